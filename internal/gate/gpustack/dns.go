package gpustack

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/guard"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/workload"
)

const probeContainer = "gang-probe"

// apiServer is the name of the API server's Service that a pod of any namespace resolves: the
// pod's search list completes it.
const apiServer = "kubernetes.default"

// notResolved begins the log line of a pod that cannot resolve the name.
const notResolved = "not resolved, exit "

// probeScript resolves the name and sleeps. It retries, since a pod may start before its
// network rules are set. ahosts queries both address families at once, as programs do; hosts
// queries IPv6 first, also in the node's search domains, where a wildcard may answer.
const probeScript = `resolve() {
getent ahosts ` + apiServer + `
}
resolve || (sleep 2; resolve) || (sleep 5; resolve) || echo "` + notResolved + `$?"
sleep infinity`

// logInterval is the interval of reading the pods' logs.
const logInterval = 500 * time.Millisecond

// readsAtOnce is the number of logs that are read at a time.
const readsAtOnce = 8

// readWithin limits one read of a log: the kubelet of a node may not answer.
const readWithin = 10 * time.Second

// maxAnswer limits the bytes read from a pod's log: an answer is a few lines.
const maxAnswer = 16 << 10

// observeDNS records the addresses that the pods of the gang have resolved.
func (g *Gate) observeDNS(ctx context.Context, cluster *kube.Cluster, gang *workload.Gang, nodes map[string]string, rec check.Recorder) error {
	rec.Progress("resolving %s on %d nodes", apiServer, len(nodes))
	attempt := g.begin(rec, kindDNS, apiServer, "GET services/kubernetes -n default; logs of the gang that fits: "+probeScript)
	service, err := cluster.Client.CoreV1().Services(metav1.NamespaceDefault).Get(ctx, "kubernetes", metav1.GetOptions{})
	if err != nil {
		return attempt.Record(nil, fmt.Errorf("read Service kubernetes: %w", err))
	}
	figures := dnsFigures{Addresses: service.Spec.ClusterIPs}
	for _, pod := range slices.Sorted(maps.Keys(nodes)) {
		figures.Pods = append(figures.Pods, resolution{Pod: pod, Node: nodes[pod]})
	}
	within, cancel := context.WithTimeout(ctx, g.start)
	defer cancel()
	if err := gang.WaitRunning(within); err != nil { // the other pods' logs are still read
		rec.Progress("not every pod runs: %v", err)
	}
	readAnswers(ctx, within, figures.Pods, func(ctx context.Context, pod string) (string, error) { return readLog(ctx, gang, pod) })
	if err := ctx.Err(); err != nil {
		return err
	}
	return attempt.Record(figures, nil)
}

// readAnswers reads each pod's log at least once, and repeats until within is done for logs
// without an answer. An unreadable log does not delay the other pods.
func readAnswers(ctx, within context.Context, pods []resolution, read func(ctx context.Context, pod string) (string, error)) {
	tick := time.NewTicker(logInterval)
	defer tick.Stop()
	for {
		var reads errgroup.Group
		reads.SetLimit(readsAtOnce)
		for i := range pods {
			if r := &pods[i]; !r.answered() {
				reads.Go(func() error {
					r.readOnce(ctx, read)
					return nil
				})
			}
		}
		_ = reads.Wait() // an error is in its resolution
		if !slices.ContainsFunc(pods, func(r resolution) bool { return r.Unread != "" }) {
			return
		}
		select {
		case <-within.Done():
			return
		case <-tick.C:
		}
	}
}

// readOnce reads the pod's log once.
func (r *resolution) readOnce(ctx context.Context, read func(ctx context.Context, pod string) (string, error)) {
	ctx, cancel := context.WithTimeout(ctx, readWithin)
	defer cancel()
	text, err := read(ctx, r.Pod)
	answered := false
	if err == nil {
		answered, err = guard.Parse("log of pod "+r.Pod, func() (bool, error) { return r.read(text), nil })
	}
	switch {
	case err != nil:
		r.Unread = err.Error()
	case answered:
		r.Unread = ""
	default:
		r.Unread = fmt.Sprintf("log of pod %s has no answer: %q", r.Pod, text)
	}
}

// answered reports whether the pod's answer is known.
func (r *resolution) answered() bool { return len(r.Addresses) > 0 || r.Exit != 0 }

func readLog(ctx context.Context, gang *workload.Gang, pod string) (string, error) {
	stream, err := gang.Logs(ctx, pod)
	if err != nil {
		return "", err
	}
	defer func() { _ = stream.Close() }()
	data, err := io.ReadAll(io.LimitReader(stream, maxAnswer))
	if err != nil {
		return "", fmt.Errorf("read log of pod %s: %w", pod, err)
	}
	return string(data), nil
}

// read parses the answer in a log: getent's lines with an address and a socket type, or the
// line of notResolved. It returns false without an answer.
func (r *resolution) read(log string) bool {
	var addresses []string
	for line := range strings.Lines(log) {
		if !strings.HasSuffix(line, "\n") {
			return false // still being written
		}
		if code, ok := strings.CutPrefix(strings.TrimSpace(line), notResolved); ok {
			n, err := strconv.Atoi(code)
			if err != nil || n == 0 {
				return false
			}
			r.Exit = n
			return true
		}
		fields := strings.Fields(line)
		if len(fields) > 1 && net.ParseIP(fields[0]) != nil && !slices.Contains(addresses, fields[0]) {
			addresses = append(addresses, fields[0])
		}
	}
	r.Addresses = addresses
	return len(addresses) > 0
}

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

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/workload"
)

const probeContainer = "gang-probe"

// apiServer is the name of the API server's Service, as a pod of any namespace resolves it:
// the rest of the name is the pod's search list's.
const apiServer = "kubernetes.default"

// notResolved begins what a pod says when it cannot resolve the name.
const notResolved = "not resolved, exit "

// probeScript resolves the name and sleeps. It tries again, for a pod can be up a moment
// before its network's rules are. ahosts asks for both families at once, as programs do: hosts
// asks for IPv6 alone first, through the node's search domains too, and a wildcard there answers.
const probeScript = `resolve() {
getent ahosts ` + apiServer + `
}
resolve || (sleep 2; resolve) || (sleep 5; resolve) || echo "` + notResolved + `$?"
sleep infinity`

// lookEvery is how often the pods' logs are looked at.
const lookEvery = 500 * time.Millisecond

// maxAnswer bounds what is read of a pod's log: an answer is a few lines.
const maxAnswer = 16 << 10

// observeDNS reads what the pods of the gang have resolved.
func (g *Gate) observeDNS(ctx context.Context, cluster *kube.Cluster, gang *workload.Gang, nodes map[string]string, rec check.Recorder) error {
	rec.Progress("resolving %s on %d nodes", apiServer, len(nodes))
	l := g.look(kindDNS, apiServer, "GET services/kubernetes -n default; logs of the gang that fits: "+probeScript)
	service, err := cluster.Client.CoreV1().Services(metav1.NamespaceDefault).Get(ctx, "kubernetes", metav1.GetOptions{})
	if err != nil {
		return g.keep(rec, l, nil, nil, fmt.Errorf("read Service kubernetes: %w", err))
	}
	figures := dnsFigures{Addresses: service.Spec.ClusterIPs}
	within, cancel := context.WithTimeout(ctx, g.start)
	defer cancel()
	running := gang.WaitRunning(within)
	for _, pod := range slices.Sorted(maps.Keys(nodes)) {
		r := resolution{Pod: pod, Node: nodes[pod]}
		if running != nil {
			r.Unread = running.Error()
		} else {
			g.resolved(within, gang, &r)
		}
		figures.Pods = append(figures.Pods, r)
	}
	if err := ctx.Err(); err != nil {
		return err //nolint:wrapcheck // interrupted
	}
	return g.keep(rec, l, figures, nil, nil)
}

// resolved waits for what a pod says.
func (g *Gate) resolved(ctx context.Context, gang *workload.Gang, r *resolution) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		text, err := readLog(ctx, gang, r.Pod)
		if err == nil {
			if r.read(text) {
				return
			}
			err = fmt.Errorf("log of pod %s has no answer: %q", r.Pod, text)
		}
		select {
		case <-ctx.Done():
			r.Unread = err.Error()
			return
		case <-tick.C:
		}
	}
}

func readLog(ctx context.Context, gang *workload.Gang, pod string) (string, error) {
	stream, err := gang.Logs(ctx, pod)
	if err != nil {
		return "", err //nolint:wrapcheck // says which pod
	}
	defer func() { _ = stream.Close() }()
	data, err := io.ReadAll(io.LimitReader(stream, maxAnswer))
	if err != nil {
		return "", fmt.Errorf("read log of pod %s: %w", pod, err)
	}
	return string(data), nil
}

// read takes the answer from a log: lines of an address and a kind of socket, as getent
// prints them, or the complaint. It is false while there is none.
func (r *resolution) read(log string) bool {
	r.Addresses = nil
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
		if len(fields) > 1 && net.ParseIP(fields[0]) != nil && !slices.Contains(r.Addresses, fields[0]) {
			r.Addresses = append(r.Addresses, fields[0])
		}
	}
	return len(r.Addresses) > 0
}

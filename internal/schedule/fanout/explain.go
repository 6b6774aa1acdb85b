package fanout

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

// Limits of a pod's log: lines shown, bytes, time.
const (
	logLines  = 12
	logBytes  = 64 << 10
	logWithin = 20 * time.Second
)

// explain describes how the pods of a shard ended, with the last lines of the newest pod's
// log. It reports read errors in its result.
func explain(ctx context.Context, cluster *kube.Cluster, p *status, shard int, last Progress) string {
	pods := p.podsOfShard(shard)
	if len(pods) == 0 { // deleted by the Job controller at the deadline
		return fmt.Sprintf("no pod left; last phase %s: %s", last.Phase, last.Text)
	}
	var out []string
	for i := range pods {
		node := pods[i].Spec.NodeName
		if node == "" {
			node = "no node"
			if why := unschedulableMessage(&pods[i]); why != "" {
				node += " (" + why + ")"
			}
		}
		out = append(out, fmt.Sprintf("pod %s on %s: %s", pods[i].Name, node, exitReason(pods[:i+1])))
	}
	newest := &pods[len(pods)-1]
	if text := lastLines(logOf(ctx, cluster, newest)); text != "" {
		out = append(out, "last log lines:\n"+text)
	}
	return strings.Join(out, "; ")
}

// logOf is the termination message of a pod, else its log.
func logOf(ctx context.Context, cluster *kube.Cluster, pod *corev1.Pod) string {
	kept := ""
	for _, s := range pod.Status.ContainerStatuses {
		if s.State.Terminated != nil {
			kept = s.State.Terminated.Message
		}
	}
	if pod.Spec.NodeName == "" || kept != "" {
		return kept
	}
	ctx, cancel := context.WithTimeout(ctx, logWithin)
	defer cancel()
	stream, err := cluster.PodLogs(ctx, pod.Namespace, pod.Name, containerName, false)
	if err != nil {
		return "(" + err.Error() + ")"
	}
	defer stream.Close()
	data, err := tail(stream, logBytes)
	if err != nil {
		return "(read log: " + err.Error() + ")"
	}
	return string(data)
}

// tail is the end of a stream.
func tail(r io.Reader, most int) ([]byte, error) {
	var kept []byte
	buf := make([]byte, most)
	for {
		n, err := r.Read(buf)
		kept = append(kept, buf[:n]...)
		kept = kept[max(0, len(kept)-most):]
		if err == io.EOF {
			return kept, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func lastLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	lines = lines[max(0, len(lines)-logLines):]
	for i := range lines {
		lines[i] = strings.TrimRight("    "+strings.ToValidUTF8(lines[i], "?"), " \r")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), " ")
}

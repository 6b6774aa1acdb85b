package cluster

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The command of a script that resolves a name, and its output on failure.
var (
	resolves  = regexp.MustCompile(`getent ahosts (\S+)`)
	complains = regexp.MustCompile(`\|\| echo "([^"]*)"`)
)

// notFound is getent's exit code for an unknown name.
const notFound = 2

// resolver simulates a script that resolves a Service name (NAME.NAMESPACE) with the pod's
// resolver and then sleeps.
func (w *worker) resolver(out io.Writer) (int, error) {
	host, ok := w.runtime.world.Recent().Node(w.pod.Spec.NodeName)
	if !ok {
		return 1, fmt.Errorf("resolve: unknown host %s", w.pod.Spec.NodeName)
	}
	script := strings.Join(slices.Concat(w.container.Command, w.container.Args), "\n")
	text := ""
	if m := resolves.FindStringSubmatch(script); m != nil && !host.NoDNS {
		service, namespace, _ := strings.Cut(m[1], ".")
		found, err := w.runtime.client.CoreV1().Services(namespace).Get(w.ctx, service, metav1.GetOptions{})
		if err == nil {
			text = fmt.Sprintf("%-15[1]s STREAM %[2]s.%[3]s.svc.cluster.local\n%-15[1]s DGRAM  \n%-15[1]s RAW    \n", found.Spec.ClusterIP, service, namespace)
		}
	}
	if m := complains.FindStringSubmatch(script); m != nil && text == "" {
		text = strings.ReplaceAll(m[1], "$?", fmt.Sprint(notFound)) + "\n"
	}
	if _, err := io.WriteString(out, text); err != nil {
		return 1, fmt.Errorf("resolve: %w", err)
	}
	<-w.ctx.Done()
	return 0, nil
}

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"

	"github.com/firstlight/firstlight/internal/world"
	"github.com/firstlight/firstlight/internal/world/host"
	"github.com/firstlight/firstlight/internal/world/operand"
)

// execs serves commands in the GPU Operator's containers that have programs of the world's hosts.
type execs struct {
	world *world.World
	pods  cache.Store
}

// container returns the node of a running container that a request of /exec names; "" if it
// belongs to another pod.
func (e execs) container(namespace, name, container string) (node string) {
	obj, ok, err := e.pods.GetByKey(namespace + "/" + name)
	pod, is := obj.(*corev1.Pod)
	if err != nil || !ok || !is || pod.Status.Phase != corev1.PodRunning {
		return ""
	}
	named := slices.ContainsFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Name == container })
	if namespace != operand.Namespace || !named || !host.InPods(container) {
		return ""
	}
	return pod.Spec.NodeName
}

const (
	execIdle     = time.Hour
	streamCreate = 30 * time.Second
)

// serve runs the command of a request in a container.
func (e execs) serve(w http.ResponseWriter, r *http.Request, node, pod, container string) {
	options, err := remotecommand.NewOptions(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	argv := r.URL.Query()["command"]
	remotecommand.ServeExec(w, r, program{world: e.world, node: node}, pod, "", container, argv, options, execIdle, streamCreate, remotecommand.SupportedStreamingProtocols)
}

// program runs the programs of one node's containers.
type program struct {
	world *world.World
	node  string
}

// ExecInContainer implements remotecommand.Executor.
func (p program) ExecInContainer(ctx context.Context, _, _, container string, argv []string, in io.Reader, out, errOut io.WriteCloser, _ bool, _ <-chan remotecommand.TerminalSize, _ time.Duration) error {
	if len(argv) == 0 {
		return errors.New("no command")
	}
	if of, ok := arguments(argv); ok {
		argv = of
		if in != nil {
			var end context.CancelFunc
			ctx, end = context.WithCancel(ctx)
			defer end()
			go func() {
				defer end()
				_, _ = io.Copy(io.Discard, in) // until the client has gone
			}()
		}
	}
	var exit int
	stdout, stderr := writer(out), writer(errOut)
	if script, ok := host.Script(argv); ok {
		exit = host.Shell(ctx, p.world, func() string { return p.node }, script, stdout, stderr, host.RunIn(container))
	} else {
		var outData, errData []byte
		outData, errData, exit = host.Execute(ctx, p.world, p.node, argv, host.RunIn(container))
		if exit == host.NotFound { // no shell: the container runtime does not find it
			return fmt.Errorf("failed to start exec: OCI runtime exec failed: exec failed: unable to start container process: exec: %q: executable file not found in $PATH: unknown", argv[0])
		}
		if err := errors.Join(write(stdout, outData), write(stderr, errData)); err != nil {
			return err
		}
	}
	if exit != 0 {
		return utilexec.CodeExitError{Err: fmt.Errorf("command terminated with exit code %d", exit), Code: exit}
	}
	return nil
}

// arguments are the arguments of sh -c with a script that runs them ("$@"). Of such scripts the simulation has the one that
// ends its command with its standard input.
func arguments(argv []string) ([]string, bool) {
	const words = 4 // sh -c SCRIPT NAME
	if len(argv) <= words || argv[0] != "sh" || argv[1] != "-c" || !strings.Contains(argv[2], `"$@"`) {
		return nil, false
	}
	return argv[words:], true
}

// writer discards what the client does not want.
func writer(w io.WriteCloser) io.Writer {
	if w == nil {
		return io.Discard
	}
	return w
}

func write(w io.Writer, data []byte) error {
	if _, err := w.Write(data); err != nil {
		return fmt.Errorf("write output: %w", err)
	}
	return nil
}

package toolpod

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/probe/ssh"
	"github.com/firstlight/firstlight/internal/site"
)

// Runner runs commands on hosts.
type Runner interface {
	Run(ctx context.Context, host string, argv ...string) (ssh.Output, error)
}

// Hosts runs commands on hosts, and those of the package's programs where the site says. It is
// safe for concurrent use.
type Hosts struct {
	onHost Runner
	// cluster connects to the cluster, once a program is not on a host.
	cluster   func(ctx context.Context) (*kube.Cluster, error)
	mode      string
	namespace string
	timeout   time.Duration

	mu    sync.Mutex
	known map[key]place
}

type key struct{ host, program string }

// place is where a program of a host is: on the host, or in a pod.
type place struct{ pod *pod }

// New returns Hosts for a site. cluster is not called with reach.gpuTools: host.
func New(s *site.Site, onHost Runner, cluster func(ctx context.Context) (*kube.Cluster, error)) *Hosts {
	return &Hosts{
		onHost: onHost, cluster: cluster, mode: s.Reach.GPUTools, namespace: s.GPUStack.Namespace,
		timeout: s.Reach.SSH.Timeout.D(), known: map[key]place{},
	}
}

// Run runs a command on a host, or in the pod of its program. Commands in pods run without sudo:
// the containers' user is root.
func (h *Hosts) Run(ctx context.Context, host string, argv ...string) (ssh.Output, error) {
	if h.mode == site.ToolsOnHost {
		return h.onHost.Run(ctx, host, argv...)
	}
	tools, err := loadTools()
	if err != nil {
		return ssh.Output{}, err
	}
	t, command, listed, ok := toolOf(tools, argv)
	if !ok {
		return h.onHost.Run(ctx, host, argv...)
	}
	at, err := h.find(ctx, host, t)
	switch {
	case err != nil:
		return ssh.Output{}, err
	case at.pod == nil:
		return h.onHost.Run(ctx, host, argv...)
	case listed:
		return ssh.Output{At: time.Now(), Origin: at.pod.String()}, nil
	}
	out, err := h.exec(ctx, *at.pod, command)
	if err != nil {
		h.forget(host, t) // the pod may have been replaced
	}
	if len(command) < len(argv) {
		out.Origin += ", without sudo"
	}
	return out, err
}

// find determines once where the program of a host is.
func (h *Hosts) find(ctx context.Context, host string, t tool) (place, error) {
	k := key{host, t.Program}
	h.mu.Lock()
	at, known := h.known[k]
	h.mu.Unlock()
	if known {
		return at, nil
	}
	absence := ""
	if h.mode != site.ToolsInPods {
		exit, err := h.lacks(ctx, host, t.Program)
		if err != nil {
			return place{}, err
		}
		if exit != 0 {
			absence = fmt.Sprintf("%s is not on the host (command not found, exit code %d), and ", t.Program, exit)
		}
	}
	if h.mode == site.ToolsInPods || absence != "" {
		p, err := h.findPod(ctx, host, t)
		if err != nil {
			return place{}, fmt.Errorf("run %s for %s: %s%w", t.Program, host, absence, err)
		}
		at.pod = p
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.known[k] = at
	return at, nil
}

func (h *Hosts) forget(host string, t tool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.known, key{host, t.Program})
}

// Exit codes of command -v for a program that does not exist: dash has 127, bash 1.
const (
	exitNotFound = 127
	exitFalse    = 1
)

// lacks returns 0 if the host has the program, and the exit code of the search otherwise.
func (h *Hosts) lacks(ctx context.Context, host, program string) (int, error) {
	out, err := h.onHost.Run(ctx, host, "sh", "-c", "command -v "+program)
	if err != nil {
		return 0, err
	}
	switch out.Exit {
	case 0, exitNotFound, exitFalse:
		return out.Exit, nil
	default:
		return 0, fmt.Errorf("find %s on %s: command -v exited %d: %.200s", program, host, out.Exit, strings.TrimSpace(string(out.Stderr)))
	}
}

// whileOpen is a script that runs its arguments, and sends them SIGTERM when the standard input ends: a container runtime
// does not end the processes of a client that has gone (kubernetes/kubernetes issue 89031).
const whileOpen = `exec 3<&0
"$@" </dev/null 3<&- & load=$!
(read -r line <&3; kill "$load") >/dev/null 2>&1 & watch=$!
wait "$load"; code=$?
kill "$watch" 2>/dev/null
exit "$code"`

// withSession is a command that runs command and ends with its standard input.
func withSession(command []string) []string {
	return append([]string{"sh", "-c", whileOpen, "sh"}, command...)
}

// exec runs a command in a pod.
func (h *Hosts) exec(ctx context.Context, p pod, command []string) (ssh.Output, error) {
	cluster, err := h.cluster(ctx)
	if err != nil {
		return ssh.Output{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, ssh.Limit(ctx, h.timeout))
	defer cancel()
	argv := command
	var stdin io.Reader
	if ssh.Loads(ctx) {
		open, end := io.Pipe()
		defer end.Close() //nolint:errcheck // never fails
		argv, stdin = withSession(command), open
	}
	stdout, stderr := &ssh.Buffer{}, &ssh.Buffer{}
	out := ssh.Output{At: time.Now(), Origin: p.String()}
	out.Exit, err = cluster.Exec(ctx, p.namespace, p.name, p.container, argv, stdin, stdout, stderr)
	out.Took, out.Stdout, out.Stderr = time.Since(out.At), stdout.Bytes(), stderr.Bytes()
	switch {
	case err != nil:
		return out, fmt.Errorf("run %s: %w", ssh.Quote(command), err)
	case stdout.Over || stderr.Over:
		return out, fmt.Errorf("run %s in pod %s/%s: %w", ssh.Quote(command), p.namespace, p.name, ssh.ErrTooMuchOutput)
	}
	return out, nil
}

var errNoCluster = errors.New("no cluster is configured: the GPU Operator's pods cannot be reached")

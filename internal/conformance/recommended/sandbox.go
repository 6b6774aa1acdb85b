package recommended

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance"
	"github.com/firstlight/firstlight/internal/conformance/dra/testpod"
	"github.com/firstlight/firstlight/internal/probe/guard"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/profile"
	"github.com/firstlight/firstlight/internal/site"
)

// Kinds of observations, and what their figures are.
const (
	kindClasses   = "runtime-classes" // []runtimeClass
	kindSandboxed = "sandboxed-pod"   // sandboxPods, one a class
)

// maxClasses limits how many classes are tested.
const maxClasses = 4

// logTimeout limits the wait for a log once its pod runs.
const logTimeout = 30 * time.Second

// The first and the last line of the script's output: a log without them is truncated.
const (
	kernelBegin = "firstlight-kernel begins"
	kernelEnd   = "firstlight-kernel ends"
)

// kernelScript prints the kernel's version, and the ID that it generated at boot, which is
// not namespaced.
const kernelScript = `exec 2>&1
echo ` + kernelBegin + `
cat /proc/version
cat /proc/sys/kernel/random/boot_id
echo ` + kernelEnd + `
` + testpod.Sleep

//go:embed sandbox.yaml
var handlersFile []byte

// handler is a container runtime's handler that shares the node's kernel.
type handler struct {
	Name   string `json:"name"`
	Source string `json:"source"`
}

func sharedKernelHandlers() ([]handler, error) {
	return loadNames[[]handler]("sandbox.yaml", handlersFile)
}

type runtimeClass struct {
	Name    string `json:"name"`
	Handler string `json:"handler"`
	// Shares: the handler is known to share the node's kernel.
	Shares bool `json:"shares,omitempty"`
}

// sandboxPods are a pod of a class, and a plain pod without one on the same node.
type sandboxPods struct {
	Class   runtimeClass   `json:"class"`
	Sandbox testpod.Status `json:"sandbox"`
	Inside  *kernel        `json:"inside,omitempty"`
	Plain   testpod.Status `json:"plain,omitzero"`
	Outside *kernel        `json:"outside,omitempty"`
	// LogError is why a log does not name a kernel.
	LogError string `json:"silent,omitempty"`
}

// kernel is what a container reports of its kernel.
type kernel struct {
	Version string `json:"version"`
	// Boot is the boot ID; empty if the kernel has none.
	Boot string `json:"boot,omitempty"`
}

// differs reports whether two kernels differ in version or boot.
func (k kernel) differs(from kernel) bool {
	return k.Version != from.Version || k.Boot != "" && from.Boot != "" && k.Boot != from.Boot
}

var bootID = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// parseKernel reads the output of the script. A log that is empty or truncated, or that has
// no version, is an error.
func parseKernel(log []byte) (kernel, error) {
	return guard.Parse("log of the pod", func() (kernel, error) { return kernelIn(log) })
}

func kernelIn(log []byte) (kernel, error) {
	var k kernel
	lines := strings.Split(string(log), "\n")
	if len(lines) < 4 || lines[0] != kernelBegin || lines[len(lines)-2] != kernelEnd || lines[len(lines)-1] != "" {
		return k, fmt.Errorf("truncated log: must begin with %q and end with %q", kernelBegin, kernelEnd)
	}
	for _, line := range lines[1 : len(lines)-2] {
		switch {
		case strings.HasPrefix(line, "Linux version ") && k.Version == "":
			k.Version = line
		case bootID.MatchString(line) && k.Boot == "":
			k.Boot = line
		}
	}
	if k.Version == "" {
		return k, errors.New("invalid log: no line with the version of Linux")
	}
	return k, nil
}

// Sandbox checks workload_sandboxing: a pod of some RuntimeClass runs on another kernel than
// a plain pod on the same node. It does not look at processes, filesystem or network of the
// sandbox.
type Sandbox struct {
	deps  conformance.Deps
	image string
}

// NewSandbox returns the check for a site.
func NewSandbox(s *site.Site, _ *profile.Profile, deps conformance.Deps) *Sandbox {
	return &Sandbox{deps: deps.WithDefaults(timeout), image: s.Telemetry.LoadImage} // any image with a shell
}

// Name implements check.Check.
func (*Sandbox) Name() string { return "workload_sandboxing" }

// Describe lists what the check does.
func (*Sandbox) Describe() []string {
	return []string{
		"list the RuntimeClasses whose handler is not known to share the node's kernel",
		"create a pod of each, and a plain pod on the same node: their logs must show two kernels",
	}
}

// Observe implements check.Check. It removes what it created, except the run's PriorityClass.
func (c *Sandbox) Observe(ctx context.Context, rec check.Recorder) error {
	return c.deps.Observe(ctx, rec, c.Name(), c.observe)
}

func (c *Sandbox) observe(ctx context.Context, cluster *kube.Cluster, rec check.Observer) (err error) {
	rec.Progress("reading runtime classes")
	attempt := rec.Begin(kindClasses, "cluster", "GET runtimeclasses")
	all, failed := runtimeClasses(ctx, cluster)
	if err := attempt.Record(all, failed); err != nil || failed != nil {
		return err
	}
	tested := candidates(all)
	if len(tested) == 0 {
		return nil
	}
	r, err := testpod.Open(ctx, cluster, c.deps.RunID, "sandbox", c.deps.PodPatches, c.deps.Clock)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close(ctx)) }()
	for i, class := range tested {
		rec.Progress("creating a pod of RuntimeClass %s", class.Name)
		attempt := rec.Begin(kindSandboxed, class.Name, "create a Pod of RuntimeClass "+class.Name+", and a plain Pod on its node; read them until they run, and their logs")
		pods, failed := c.test(ctx, r, class, i)
		if err := errors.Join(attempt.Record(pods, failed), ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

func runtimeClasses(ctx context.Context, cluster *kube.Cluster) ([]runtimeClass, error) {
	known, err := sharedKernelHandlers()
	if err != nil {
		return nil, err
	}
	list, err := cluster.Client.NodeV1().RuntimeClasses().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("list runtime classes: %w", err)
	}
	out := []runtimeClass{}
	for _, c := range list.Items {
		shares := slices.ContainsFunc(known, func(h handler) bool { return h.Name == c.Handler })
		out = append(out, runtimeClass{Name: c.Name, Handler: c.Handler, Shares: shares})
	}
	return out, nil
}

// candidates are the classes that may be sandboxes, at most maxClasses.
func candidates(all []runtimeClass) []runtimeClass {
	var out []runtimeClass
	for _, c := range all {
		if !c.Shares && len(out) < maxClasses {
			out = append(out, c)
		}
	}
	return out
}

func (c *Sandbox) test(ctx context.Context, r testpod.Runner, class runtimeClass, i int) (sandboxPods, error) {
	out := sandboxPods{Class: class}
	run := func(spec testpod.Spec) (status testpod.Status, k *kernel, err error) {
		spec.Check, spec.Image, spec.Containers = c.Name(), c.image, []testpod.Container{{Name: "kernel", Script: kernelScript}}
		if err := r.Start(ctx, spec); err != nil {
			return status, nil, err
		}
		if status, err = r.WaitFor(ctx, c.deps.Timeout, spec.Name, testpod.Status.Settled); err != nil || !status.Running() {
			return status, nil, err
		}
		read, _, failed := testpod.WaitLog(ctx, r, min(logTimeout, c.deps.Timeout), spec.Name, "kernel", parseKernel)
		if failed != nil {
			out.LogError = failed.Error()
			return status, nil, nil //nolint:nilerr // recorded
		}
		return status, &read, nil
	}
	var err error
	out.Sandbox, out.Inside, err = run(testpod.Spec{Name: fmt.Sprintf("sandbox-%d", i), RuntimeClass: class.Name})
	if err == nil && out.Inside != nil {
		out.Plain, out.Outside, err = run(testpod.Spec{Name: fmt.Sprintf("plain-%d", i), Nodes: []string{out.Sandbox.Node}})
	}
	return out, err
}

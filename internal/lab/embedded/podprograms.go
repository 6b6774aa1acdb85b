package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/lab/gpustack"
)

// podPrograms runs the programs of component.StackNone for the pods of an installed chart: each with
// the arguments of its newest pod, while it has one on a node. The mirror then keeps the pods' readiness.
type podPrograms struct {
	client kubernetes.Interface
	pods   cache.SharedIndexInformer
	run    func(ctx context.Context, name string, args []string) error
	end    func(name string)
	log    *slog.Logger
	// changed has a signal for each program.
	changed map[string]chan struct{}
}

// accounts are the service accounts that the programs have certificates for.
var accounts = map[string]string{component.GPUOperator: "gpu-operator", component.NFDMaster: "node-feature-discovery"}

// restartAfter is the time between two starts of a program that ends.
const restartAfter = 5 * time.Second

// completes lets kwok end a pod with success.
const completes = "firstlight.dev/world-completes"

func newPodPrograms(client kubernetes.Interface, run func(ctx context.Context, name string, args []string) error, end func(name string), log *slog.Logger) *podPrograms {
	p := &podPrograms{client: client, run: run, end: end, log: log, changed: map[string]chan struct{}{}}
	for name := range accounts {
		p.changed[name] = make(chan struct{}, 1)
	}
	p.pods = coreinformers.NewPodInformer(client, gpustack.Namespace, 0, nil)
	// AddEventHandler fails only on a stopped informer.
	_, _ = p.pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { p.wake() }, UpdateFunc: func(_, _ any) { p.wake() }, DeleteFunc: func(any) { p.wake() },
	})
	return p
}

func (p *podPrograms) wake() {
	for _, c := range p.changed {
		select {
		case c <- struct{}{}:
		default: // already requested
		}
	}
}

// follow runs the programs until ctx ends.
func (p *podPrograms) follow(ctx context.Context) {
	var all sync.WaitGroup
	defer all.Wait()
	all.Go(func() { p.pods.RunWithContext(ctx) })
	for name, changed := range p.changed {
		all.Go(func() { p.followOne(ctx, name, changed) })
	}
}

func (p *podPrograms) followOne(ctx context.Context, name string, changed <-chan struct{}) {
	// running are the arguments of the program, nil without one; refused are those of the newest pod,
	// if the program did not become ready with them.
	var running, refused []string
	for {
		wait := resync
		pods := p.of(name)
		p.endHooks(ctx)
		if len(pods) == 0 {
			if running != nil {
				p.end(name)
			}
			running, refused = nil, nil
		} else if args := chosen(pods, refused); running == nil || !slices.Equal(running, args) {
			running = nil
			switch err := p.start(ctx, name, args, argsOf(pods[0]), changed); {
			case err == nil:
				running = args
			case errors.Is(err, errOutdated):
				wait = 0
			default:
				p.log.Warn("the program of a pod does not run", "program", name, "err", err)
				wait, refused = restartAfter, args
			}
		}
		p.label(ctx, name, running, pods)
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-changed:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// chosen are the arguments of the newest pod. If the program refuses them, they are those of the pod
// before it, which still runs on a cluster, as a rollout waits for the new one.
func chosen(pods []*corev1.Pod, refused []string) []string {
	newest := argsOf(pods[0])
	if !slices.Equal(newest, refused) {
		return newest
	}
	for _, pod := range pods[1:] {
		if args := argsOf(pod); !slices.Equal(args, refused) {
			return args
		}
	}
	return newest
}

var errOutdated = errors.New("a pod with other arguments is newer")

// start runs a program until it is ready, or until the newest pod has other arguments: a program that
// never becomes ready once kept the one after Helm's rollback from its start.
func (p *podPrograms) start(ctx context.Context, name string, args, newest []string, changed <-chan struct{}) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := make(chan error, 1)
	go func() { done <- p.run(ctx, name, args) }()
	for {
		select {
		case err := <-done:
			return err
		case <-changed:
			p.endHooks(ctx)
			if pods := p.of(name); len(pods) == 0 || !slices.Equal(newest, argsOf(pods[0])) {
				cancel(errOutdated)
			}
		}
	}
}

// argsOf are the arguments of a pod's program; not nil.
func argsOf(pod *corev1.Pod) []string { return append([]string{}, pod.Spec.Containers[0].Args...) }

// of returns the pods of a program that are on a node, the newest first.
func (p *podPrograms) of(name string) []*corev1.Pod {
	var out []*corev1.Pod
	for _, obj := range p.pods.GetStore().List() {
		if pod, ok := obj.(*corev1.Pod); ok && programOf(pod) == name && pod.Spec.NodeName != "" && pod.DeletionTimestamp == nil {
			out = append(out, pod)
		}
	}
	slices.SortFunc(out, func(a, b *corev1.Pod) int {
		if c := b.CreationTimestamp.Compare(a.CreationTimestamp.Time); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}

// programOf is the component whose program a pod runs, by its command; empty: none that the lab has
// an identity for.
func programOf(pod *corev1.Pod) string {
	c := pod.Spec.Containers[0]
	if len(c.Command) != 1 || accounts[c.Command[0]] == "" || pod.Spec.ServiceAccountName != accounts[c.Command[0]] {
		return ""
	}
	return c.Command[0]
}

// label marks the pods with the arguments of the running process as its pods. Others stay as the chart
// has held them: they are not ready before a program with their arguments is. A pod that was marked
// first was once ready by its predecessor's program, and Helm's upgrade to refused arguments passed.
func (p *podPrograms) label(ctx context.Context, name string, running []string, pods []*corev1.Pod) {
	for _, pod := range pods {
		if pod.Labels[labelProcess] != name && running != nil && slices.Equal(running, argsOf(pod)) {
			p.patch(ctx, pod, fmt.Sprintf(`{"metadata":{"uid":%q,"labels":{%q:%q}}}`, pod.UID, labelProcess, name))
		}
	}
}

// endHooks ends the pods of the chart's hooks, whose programs are not run: one applies the definitions
// that the chart has created, the other removes labels from nodes.
func (p *podPrograms) endHooks(ctx context.Context) {
	for _, obj := range p.pods.GetStore().List() {
		pod, ok := obj.(*corev1.Pod)
		if !ok || pod.Annotations[completes] != "" {
			continue
		}
		owner := metav1.GetControllerOf(pod)
		c := pod.Spec.Containers[0]
		if owner != nil && owner.Kind == "Job" && (slices.Contains(c.Args, "-prune") || strings.Contains(strings.Join(c.Command, " "), "kubectl apply -f /opt/gpu-operator/")) {
			p.patch(ctx, pod, fmt.Sprintf(`{"metadata":{"uid":%q,"annotations":{%q:"true"}}}`, pod.UID, completes))
		}
	}
}

func (p *podPrograms) patch(ctx context.Context, pod *corev1.Pod, patch string) {
	_, err := p.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) && ctx.Err() == nil {
		p.log.Warn("cannot change a pod", "pod", pod.Name, "err", err)
	}
}

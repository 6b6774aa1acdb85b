package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/firstlight/firstlight/internal/lab"
	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/lab/gpustack"
	"github.com/firstlight/firstlight/internal/lab/process"
)

// mirror represents the lab's processes as the API objects of a real cluster: a Deployment's
// arguments are those of the process, and its pod is Ready exactly while the process is.
type mirror struct {
	client    kubernetes.Interface
	pods      cache.SharedIndexInformer
	log       *slog.Logger
	processes func() []lab.Running
	// node is the control plane node; empty: the lab has none, and nothing is mirrored.
	node string
	// changed signals a change of a process or of its pod.
	changed chan struct{}
	// had has the last written template of each component.
	had map[string]corev1.PodTemplateSpec
}

// resync is the interval without changes.
const resync = 10 * time.Second

func newMirror(client kubernetes.Interface, node string, processes func() []lab.Running, log *slog.Logger) *mirror {
	m := &mirror{client: client, node: node, processes: processes, log: log, changed: make(chan struct{}, 1), had: map[string]corev1.PodTemplateSpec{}}
	m.pods = coreinformers.NewFilteredPodInformer(client, metav1.NamespaceAll, 0, nil, func(o *metav1.ListOptions) { o.LabelSelector = labelProcess })
	// AddEventHandler fails only on a stopped informer.
	_, _ = m.pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { m.wake() }, UpdateFunc: func(_, _ any) { m.wake() }, DeleteFunc: func(any) { m.wake() },
	})
	return m
}

// wake requests a sync.
func (m *mirror) wake() {
	select {
	case m.changed <- struct{}{}:
	default: // already requested
	}
}

// run syncs until ctx ends.
func (m *mirror) run(ctx context.Context) {
	done := make(chan struct{})
	go func() { defer close(done); m.pods.RunWithContext(ctx) }()
	defer func() { <-done }()
	for {
		wait := resync
		if err := m.sync(ctx); err != nil {
			if ctx.Err() != nil {
				return
			}
			m.log.Debug("show processes", "err", err) // a namespace or its service account may not exist yet
			wait = time.Second / 2
		}
		t := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			t.Stop()
			return
		case <-m.changed:
		case <-t.C:
		}
		t.Stop()
	}
}

func (m *mirror) sync(ctx context.Context) error {
	if m.node == "" {
		return nil
	}
	var errs []error
	ready := map[string]bool{}
	for _, r := range m.processes() {
		ready[r.Name] = r.State == process.Ready
		for _, s := range deployments() {
			if s.component == r.Name {
				errs = append(errs, m.show(ctx, s, r))
			}
		}
		if r.Name == component.ControllerManager {
			errs = append(errs, m.showStatic(ctx, r))
		}
	}
	for _, pod := range m.shown() {
		if held(pod) != !ready[pod.Labels[labelProcess]] {
			errs = append(errs, m.setHeld(ctx, pod, !ready[pod.Labels[labelProcess]]))
		}
	}
	return errors.Join(errs...)
}

// show creates a process's Deployment and ConfigMap, or updates them after a restart with other
// settings.
func (m *mirror) show(ctx context.Context, s shown, r lab.Running) error {
	config, path, err := s.configOf(r, readFile)
	if err != nil {
		return err
	}
	want := s.deployment(r, config, path)
	if apiequality.Semantic.DeepEqual(m.had[s.component], want.Spec.Template) {
		return nil
	}
	if config != nil {
		if err := m.putConfig(ctx, config); err != nil {
			return err
		}
	}
	api := m.client.AppsV1().Deployments(s.namespace)
	if _, err := api.Create(ctx, want, metav1.CreateOptions{}); apierrors.IsAlreadyExists(err) {
		current, err := api.Get(ctx, want.Name, metav1.GetOptions{})
		if err != nil {
			return fmt.Errorf("show %s: %w", r.Name, err)
		}
		current.Labels, current.Spec.Template = want.Labels, want.Spec.Template
		if _, err := api.Update(ctx, current, metav1.UpdateOptions{}); err != nil {
			return fmt.Errorf("show %s: %w", r.Name, err)
		}
	} else if err != nil {
		return fmt.Errorf("show %s: %w", r.Name, err)
	}
	m.had[s.component] = want.Spec.Template
	return nil
}

func (m *mirror) putConfig(ctx context.Context, config *corev1.ConfigMap) error {
	api := m.client.CoreV1().ConfigMaps(config.Namespace)
	_, err := api.Create(ctx, config, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		_, err = api.Update(ctx, config, metav1.UpdateOptions{})
	}
	if err != nil {
		return fmt.Errorf("show configuration %s: %w", config.Name, err)
	}
	return nil
}

// showStatic creates the controller manager's pod.
func (m *mirror) showStatic(ctx context.Context, r lab.Running) error {
	pod := staticPod(r, m.node)
	if _, exists, err := m.pods.GetStore().GetByKey(pod.Namespace + "/" + pod.Name); exists || err != nil {
		return err
	}
	_, err := m.client.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("show %s: %w", r.Name, err)
	}
	return nil
}

// shown returns the mirrored pods that are not being deleted.
func (m *mirror) shown() []*corev1.Pod {
	var out []*corev1.Pod
	for _, obj := range m.pods.GetStore().List() {
		if pod, ok := obj.(*corev1.Pod); ok && pod.DeletionTimestamp == nil {
			out = append(out, pod)
		}
	}
	return out
}

func held(pod *corev1.Pod) bool {
	_, is := pod.Annotations[hold]
	return is
}

func (m *mirror) setHeld(ctx context.Context, pod *corev1.Pod, on bool) error {
	value := "null"
	if on {
		value = `"ready"`
	}
	patch := fmt.Sprintf(`{"metadata":{"uid":%q,"annotations":{%q:%s}}}`, pod.UID, hold, value)
	_, err := m.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return fmt.Errorf("update readiness of %s: %w", pod.Labels[labelProcess], err)
	}
	return nil
}

// settled returns nil when the pods' readiness matches the processes.
func (m *mirror) settled(ctx context.Context) error {
	if m.node == "" {
		return nil
	}
	all := deployments()
	for name, process := range component.StackDeployments() { // of a chart, not created here
		all = append(all, shown{component: process, namespace: gpustack.Namespace, name: name})
	}
	for _, r := range m.processes() {
		for _, s := range all {
			if s.component != r.Name {
				continue
			}
			d, err := m.client.AppsV1().Deployments(s.namespace).Get(ctx, s.name, metav1.GetOptions{})
			if err != nil {
				return fmt.Errorf("get Deployment %s: %w", s.name, err)
			}
			want := int32(0)
			if r.State == process.Ready {
				want = 1
			}
			if d.Status.ObservedGeneration < d.Generation || d.Status.ReadyReplicas != want || d.Status.UpdatedReplicas != 1 {
				return fmt.Errorf("deployment %s has %d ready pods, %s is %s", s.name, d.Status.ReadyReplicas, r.Name, r.State)
			}
		}
	}
	return nil
}

func readFile(path string) (string, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read configuration: %w", err)
	}
	return string(raw), nil
}

package pregate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"helm.sh/helm/v4/pkg/kube"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/firstlight/firstlight/internal/poll"
)

const (
	// podInterval is the time between two reads of the pods of a release's namespace.
	podInterval = 5 * time.Second
	// lastingReads is how many reads in a row must show the invalid image of a pod: an operator replaces pods that it
	// has created from a value of a moment ago.
	lastingReads = 3
	// invalidImageName is the only reason to wait for an image that no retry mends: the kubelet does not ask a registry
	// (github.com/kubernetes/kubernetes, pkg/kubelet/images/types.go: ErrInvalidImageName).
	invalidImageName = "InvalidImageName"
)

// podWatch follows the pods of a release's namespace that do not start, while Helm waits for its objects. Helm's status of a
// Deployment or DaemonSet does not have the reason.
type podWatch struct {
	list func(ctx context.Context) ([]corev1.Pod, error)
	// ours reports whether a pod was created for an object of the release.
	ours     func(ctx context.Context, p *corev1.Pod) bool
	values   map[string]any
	progress func(text string)
	// before are the pods before the change: an upgrade may replace them.
	before map[types.UID]bool

	reported map[string]bool
	// invalid counts the reads in a row with an invalid image.
	invalid map[types.UID]int
}

// watchPods has Helm wait until a pod of the release can never start. The context ends then, with that cause.
func (r *release) watchPods(ctx context.Context, s *session) (wait context.Context, stop func(), err error) {
	w, err := r.newPodWatch(s)
	if err != nil {
		return ctx, nil, err
	}
	wait, cancel := context.WithCancelCause(ctx)
	s.wait = []kube.WaitOption{kube.WithWaitContext(wait)}
	done := make(chan struct{})
	stop = func() {
		cancel(nil)
		<-done
	}
	before, err := w.list(ctx)
	if err != nil {
		close(done)
		return wait, stop, nil //nolint:nilerr // no pod can be distinguished from an earlier one: Helm alone waits
	}
	for i := range before {
		w.before[before[i].UID] = true
	}
	go func() {
		defer close(done)
		if err := w.follow(wait, podInterval); wait.Err() == nil {
			cancel(err)
		}
	}()
	return wait, stop, nil
}

func (r *release) newPodWatch(s *session) (*podWatch, error) {
	config, err := s.RESTClientGetter.ToRESTConfig()
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	mapper, err := s.RESTClientGetter.ToRESTMapper()
	if err != nil {
		return nil, err
	}
	return &podWatch{
		list: func(ctx context.Context) ([]corev1.Pod, error) {
			pods, err := client.CoreV1().Pods(r.spec.Namespace).List(ctx, metav1.ListOptions{FieldSelector: "status.phase=" + string(corev1.PodPending)})
			if err != nil {
				return nil, err
			}
			return pods.Items, nil
		},
		ours: func(ctx context.Context, p *corev1.Pod) bool {
			known, err := r.objects(s)
			return err == nil && createdFor(ctx, known, p, func(ctx context.Context, ref metav1.OwnerReference) (metav1.Object, error) {
				return getOwner(ctx, objects, mapper, ref, p.Namespace)
			})
		},
		values: s.values, progress: s.progress, before: map[types.UID]bool{}, reported: map[string]bool{},
	}, nil
}

// follow returns the error of a pod that can never start, or that of the context.
func (w *podWatch) follow(ctx context.Context, interval time.Duration) (stuck error) {
	err := poll.Until(ctx, interval, "the pods of the release", func(ctx context.Context) error {
		if stuck = w.read(ctx); stuck == nil {
			return errors.New("no pod is stuck")
		}
		return nil
	})
	if err != nil {
		return err
	}
	return stuck
}

// read reports what containers wait for, once for each container and image, and returns an error for a pod of the release
// that can never start.
func (w *podWatch) read(ctx context.Context) error {
	pods, err := w.list(ctx)
	if err != nil {
		return nil //nolint:nilerr // Helm waits, and reports a cluster that does not answer
	}
	invalid := map[types.UID]int{}
	for i := range pods {
		p := &pods[i]
		if w.before[p.UID] {
			continue
		}
		for _, c := range waiting(p) {
			why := c.State.Waiting
			if key := c.Name + " " + c.Image; !w.reported[key] {
				w.reported[key] = true
				w.progress(fmt.Sprintf("waiting for pod %s: container %s: %s: %s", p.Name, c.Name, why.Reason, why.Message))
			}
			if why.Reason != invalidImageName {
				continue
			}
			invalid[p.UID] = w.invalid[p.UID] + 1
			if invalid[p.UID]%lastingReads == 0 && w.ours(ctx, p) {
				return w.stuck(p, c)
			}
		}
	}
	w.invalid = invalid
	return nil
}

// stuck is the error of a container whose image has an invalid name.
func (w *podWatch) stuck(p *corev1.Pod, c corev1.ContainerStatus) error {
	image := c.Image
	for _, spec := range slices.Concat(p.Spec.InitContainers, p.Spec.Containers) {
		if spec.Name == c.Name {
			image = spec.Image
		}
	}
	remedy := "correct the values that it is made of"
	if keys := invalidKeys(w.values, image); len(keys) > 0 {
		remedy = "correct the value " + strings.Join(keys, ", ")
	}
	return fmt.Errorf("%s: container %s of pod %s has the image %q, must be a valid image name: %s", invalidImageName, c.Name, p.Name, image, remedy)
}

// invalidKeys are the keys of the values that make the name of an image invalid: with other text in place of theirs, it
// is valid.
func invalidKeys(values map[string]any, image string) []string {
	valid := func(image string) bool {
		_, err := name.ParseReference(image)
		return err == nil
	}
	if valid(image) {
		return nil // invalid by another rule than those of the parser
	}
	var keys []string
	var walk func(prefix string, table map[string]any)
	walk = func(prefix string, table map[string]any) {
		for _, key := range slices.Sorted(maps.Keys(table)) {
			value := table[key]
			text := fmt.Sprint(value) // a template prints a table the same way
			if text != "" && strings.Contains(image, text) && valid(strings.ReplaceAll(image, text, "xx")) {
				keys = append(keys, prefix+key)
			}
			if inner, ok := value.(map[string]any); ok {
				walk(prefix+key+".", inner)
			}
		}
	}
	walk("", values)
	return keys
}

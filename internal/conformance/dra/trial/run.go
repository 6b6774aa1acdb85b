package trial

import (
	"context"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

const (
	// between two looks at the API server.
	between = 250 * time.Millisecond
	// maxLog bounds how much of a container's log is read; what a script here says
	// is a line for each of a node's devices.
	maxLog = 64 << 10
)

// Runner starts pods in a run's namespace and looks at them.
type Runner struct {
	Cluster   *kube.Cluster
	RunID     string
	Namespace string
	Clock     clock.PassiveClock
}

// Start creates a pod, with its claim's template before it.
func (r Runner) Start(ctx context.Context, s Spec) error {
	if t := s.Template(r.RunID, r.Namespace); t != nil {
		if _, err := r.Cluster.Client.ResourceV1().ResourceClaimTemplates(r.Namespace).Create(ctx, t, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create resource claim template %s/%s: %w", r.Namespace, s.Name, err)
		}
	}
	if _, err := r.Cluster.Client.CoreV1().Pods(r.Namespace).Create(ctx, s.Pod(r.RunID, r.Namespace), metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create pod %s/%s: %w", r.Namespace, s.Name, err)
	}
	return nil
}

// Look sees a pod and the claim that was made for it, if there is one.
func (r Runner) Look(ctx context.Context, name string) (Seen, error) {
	pod, err := r.Cluster.Client.CoreV1().Pods(r.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return Seen{}, fmt.Errorf("read pod %s/%s: %w", r.Namespace, name, err)
	}
	var claim *resourcev1.ResourceClaim
	if made := claimOf(pod); made != "" {
		claim, err = r.Cluster.Client.ResourceV1().ResourceClaims(r.Namespace).Get(ctx, made, metav1.GetOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return Seen{}, fmt.Errorf("read resource claim %s/%s: %w", r.Namespace, made, err)
		}
		if err != nil {
			claim = nil
		}
	}
	return seenOf(r.Clock.Now().UTC(), pod, claim), nil
}

func claimOf(pod *corev1.Pod) string {
	for _, s := range pod.Status.ResourceClaimStatuses {
		if s.Name == entry && s.ResourceClaimName != nil {
			return *s.ResourceClaimName
		}
	}
	return ""
}

// Await looks until ok says yes. After patience, or when ctx ends, it returns what
// was seen last; the error says why nothing was seen, if nothing ever was.
func (r Runner) Await(ctx context.Context, patience time.Duration, name string, ok func(Seen) bool) (Seen, error) {
	end := time.NewTimer(patience)
	defer end.Stop()
	tick := time.NewTicker(between)
	defer tick.Stop()
	var last Seen
	for {
		seen, err := r.Look(ctx, name)
		if err == nil {
			last = seen
			if ok(seen) {
				return seen, nil
			}
		}
		if last.UID != "" {
			err = nil
		}
		select {
		case <-ctx.Done():
			return last, err
		case <-end.C:
			return last, err
		case <-tick.C:
		}
	}
}

// Log is what a container has written. More than maxLog of it is an error.
func (r Runner) Log(ctx context.Context, pod, container string) ([]byte, error) {
	stream, err := r.Cluster.PodLogs(ctx, r.Namespace, pod, container, false)
	if err != nil {
		return nil, err //nolint:wrapcheck // says whose log
	}
	defer stream.Close()
	raw, err := io.ReadAll(io.LimitReader(stream, maxLog+1))
	if err != nil {
		return nil, fmt.Errorf("read log of pod %s/%s: %w", r.Namespace, pod, err)
	}
	if len(raw) > maxLog {
		return raw[:maxLog], fmt.Errorf("log of pod %s/%s: more than %d bytes", r.Namespace, pod, maxLog)
	}
	return raw, nil
}

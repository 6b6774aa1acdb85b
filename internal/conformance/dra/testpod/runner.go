package testpod

import (
	"context"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/podpatch"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

const (
	pollInterval = 250 * time.Millisecond
	// maxLog limits how much of a container's log is read: a script prints one line for
	// each device of a node.
	maxLog = 64 << 10
)

// Rules are the permissions to find free devices and to run pods. Everything that is created
// or deleted is in namespaces of the run, whose names a Role cannot list in advance.
func Rules() []rbacv1.PolicyRule {
	rule := func(group string, resources []string, verbs ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: verbs}
	}
	return []rbacv1.PolicyRule{
		rule("", []string{"nodes"}, "list"),
		rule("", []string{"pods"}, "get", "list", "create", "deletecollection"),
		rule("", []string{"namespaces"}, "get", "create", "delete"),
		rule("", []string{"serviceaccounts"}, "list", "watch"),
		rule("scheduling.k8s.io", []string{"priorityclasses"}, "create"),
		rule("resource.k8s.io", []string{"resourceslices"}, "list"),
		rule("resource.k8s.io", []string{"resourceclaims"}, "get", "list"),
		rule("resource.k8s.io", []string{"resourceclaimtemplates"}, "create"),
	}
}

// Runner starts pods in a run's namespace and reads their status.
type Runner struct {
	Cluster   *kube.Cluster
	RunID     string
	Namespace string
	// Patches are the site's, of every pod.
	Patches []map[string]any
	Clock   clock.PassiveClock
}

// Start creates a pod, and before it the template of its claim.
func (r Runner) Start(ctx context.Context, s Spec) error {
	if t := s.Template(r.RunID, r.Namespace); t != nil {
		if _, err := r.Cluster.DRA().ResourceClaimTemplates(r.Namespace).Create(ctx, t, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create resource claim template %s/%s: %w", r.Namespace, s.Name, err)
		}
	}
	pod, err := r.Pod(s)
	if err != nil {
		return err
	}
	if _, err := r.Cluster.Client.CoreV1().Pods(r.Namespace).Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create pod %s/%s: %w", r.Namespace, s.Name, err)
	}
	return nil
}

// Pod renders a pod with the patches of the site. A patch that changes what the check sets is an error.
func (r Runner) Pod(s Spec) (*corev1.Pod, error) {
	pod, err := podpatch.ApplyPod(s.Pod(r.RunID, r.Namespace), r.Patches...)
	if err != nil {
		return nil, fmt.Errorf("patch the pod %s: %w", s.Name, err)
	}
	return pod, nil
}

// CreateClaim creates a ResourceClaim that several pods may name as Shared.
func (r Runner) CreateClaim(ctx context.Context, check, name string, c Claim) error {
	claim := &resourcev1.ResourceClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: r.Namespace, Labels: kube.Labels(r.RunID, check)}, Spec: c.spec(),
	}
	if _, err := r.Cluster.DRA().ResourceClaims(r.Namespace).Create(ctx, claim, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("create resource claim %s/%s: %w", r.Namespace, name, err)
	}
	return nil
}

// Get reads a pod, and the claim that was created for it, if any.
func (r Runner) Get(ctx context.Context, name string) (Status, error) {
	pod, err := r.Cluster.Client.CoreV1().Pods(r.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return Status{}, fmt.Errorf("read pod %s/%s: %w", r.Namespace, name, err)
	}
	var claim *resourcev1.ResourceClaim
	if name := claimOf(pod); name != "" {
		claim, err = r.Cluster.DRA().ResourceClaims(r.Namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			return Status{}, fmt.Errorf("read resource claim %s/%s: %w", r.Namespace, name, err)
		}
		if err != nil {
			claim = nil
		}
	}
	return statusOf(r.Clock.Now().UTC(), pod, claim), nil
}

// GetClaim reads a claim by its name.
func (r Runner) GetClaim(ctx context.Context, name string) (ClaimStatus, error) {
	claim, err := r.Cluster.DRA().ResourceClaims(r.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return ClaimStatus{}, fmt.Errorf("read resource claim %s/%s: %w", r.Namespace, name, err)
	}
	return *claimStatus(claim), nil
}

func claimOf(pod *corev1.Pod) string {
	for _, s := range pod.Status.ResourceClaimStatuses {
		if s.Name == claimEntry && s.ResourceClaimName != nil {
			return *s.ResourceClaimName
		}
	}
	return ""
}

// WaitFor reads a pod until done reports true. After timeout, or when ctx ends, it returns
// the last status; the error is set only if the pod could never be read.
func (r Runner) WaitFor(ctx context.Context, timeout time.Duration, name string, done func(Status) bool) (Status, error) {
	var last Status
	var failed error
	_ = wait.PollUntilContextTimeout(ctx, pollInterval, timeout, true, func(context.Context) (bool, error) {
		status, err := r.Get(ctx, name) // a request is not cut off by the timeout
		if err != nil {
			failed = err
			return false, nil //nolint:nilerr // read again until the timeout
		}
		last = status
		return done(status), nil
	})
	if last.UID != "" {
		failed = nil
	}
	return last, failed
}

// Log reads what a container has written. More than maxLog is an error.
func (r Runner) Log(ctx context.Context, pod, container string) ([]byte, error) {
	stream, err := r.Cluster.PodLogs(ctx, r.Namespace, pod, container, false)
	if err != nil {
		return nil, err
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

// WaitLog reads a container's log until parse accepts it. After timeout, or when ctx ends,
// it returns the last log and the last error.
func WaitLog[T any](ctx context.Context, r Runner, timeout time.Duration, pod, container string, parse func([]byte) (T, error)) (parsed T, log []byte, failed error) {
	_ = wait.PollUntilContextTimeout(ctx, pollInterval, timeout, true, func(context.Context) (bool, error) {
		if log, failed = r.Log(ctx, pod, container); failed == nil {
			parsed, failed = parse(log)
		}
		return failed == nil, nil
	})
	return parsed, log, failed
}

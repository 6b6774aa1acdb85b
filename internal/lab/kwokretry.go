package lab

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/clock"

	"github.com/firstlight/firstlight/internal/lab/component"
)

const (
	// kwokRetryAfter is how long a bound pod may be without a status from kwok before it is
	// annotated. kwok needs about a second.
	kwokRetryAfter    = 15 * time.Second
	kwokRetryInterval = 5 * time.Second
	kwokRetryLimit    = 2
	// kwokRetryAnnotation has the number of retries. Its change is an update event for kwok.
	kwokRetryAnnotation = "firstlight.dev/kwok-retry"
)

// kwokRetrier works around a race in kwok: a pod that is bound while its node appears can be
// missing from kwok's first list of the node's pods. It then stays Pending until its next update.
type kwokRetrier struct {
	client kubernetes.Interface
	clock  clock.Clock
	log    *slog.Logger
	// retries of the pods that kwok has not processed.
	retries map[types.UID]kwokRetry
}

type kwokRetry struct {
	count int
	last  time.Time
}

func newKwokRetrier(client kubernetes.Interface, clk clock.Clock, log *slog.Logger) *kwokRetrier {
	return &kwokRetrier{client: client, clock: clk, log: log, retries: map[types.UID]kwokRetry{}}
}

func (k *kwokRetrier) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-k.clock.After(kwokRetryInterval):
		}
		if err := k.sync(ctx); err != nil && ctx.Err() == nil {
			k.log.Warn("cannot retry pods that kwok missed", "err", err)
		}
	}
}

// sync annotates each pod that is due and forgets the pods that have a status.
func (k *kwokRetrier) sync(ctx context.Context) error {
	// Resource version 0: the API server answers from its watch cache.
	pods, err := k.client.CoreV1().Pods("").List(ctx, metav1.ListOptions{
		FieldSelector: "status.phase=Pending,spec.nodeName!=", ResourceVersion: "0",
	})
	if err != nil {
		return fmt.Errorf("cannot list pending pods: %w", err)
	}
	retries := map[types.UID]kwokRetry{}
	var errs []error
	for _, pod := range pods.Items {
		if pod.Spec.NodeName == "" || pod.Status.StartTime != nil || pod.DeletionTimestamp != nil {
			continue
		}
		r, ok := k.retries[pod.UID]
		if !ok {
			r.last = boundAt(&pod)
		}
		if k.clock.Since(r.last) > kwokRetryAfter && r.count < kwokRetryLimit {
			if err := k.retry(ctx, &pod, r.count+1); err != nil {
				errs = append(errs, err)
			} else {
				r = kwokRetry{count: r.count + 1, last: k.clock.Now()}
			}
		}
		retries[pod.UID] = r
	}
	k.retries = retries
	return errors.Join(errs...)
}

func (k *kwokRetrier) retry(ctx context.Context, pod *corev1.Pod, count int) error {
	node, err := k.client.CoreV1().Nodes().Get(ctx, pod.Spec.NodeName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot get node %s: %w", pod.Spec.NodeName, err)
	}
	if node.Annotations[component.KwokAnnotation] != component.KwokAnnotationValue {
		return nil
	}
	patch := fmt.Sprintf(`{"metadata":{"uid":%q,"annotations":{%q:%q}}}`, pod.UID, kwokRetryAnnotation, strconv.Itoa(count))
	_, err = k.client.CoreV1().Pods(pod.Namespace).Patch(ctx, pod.Name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) { // deleted, or another pod of the name
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot annotate pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	k.log.Info("kwok has not processed a pod; annotated it", "namespace", pod.Namespace, "pod", pod.Name, "node", pod.Spec.NodeName, "retry", count)
	return nil
}

// boundAt returns the time of the binding. A pod that was created with a node name has no
// PodScheduled condition.
func boundAt(pod *corev1.Pod) time.Time {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionTrue {
			return c.LastTransitionTime.Time
		}
	}
	return pod.CreationTimestamp.Time
}

// startKwokRetrier runs a kwokRetrier until Stop.
func (l *Lab) startKwokRetrier(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(l.rest)
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.background.Go(func() { newKwokRetrier(client, l.opts.Clock, l.opts.Log).run(ctx) })
	l.stopBackground = cancel
	return nil
}

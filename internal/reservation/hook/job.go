package hook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"

	"github.com/firstlight/firstlight/internal/poll"
	"github.com/firstlight/firstlight/internal/proctree"
	"github.com/firstlight/firstlight/internal/reservation/lease"
)

// Jobs runs a hook that is a Job.
type Jobs struct {
	Job    *Job
	Client kubernetes.Interface
	// ID returns a unique name for a call.
	ID func() string
	// Logs reads the log of a container; nil: from the API server.
	Logs func(ctx context.Context, namespace, pod, container string) ([]byte, error)
	// Poll is the interval of reading the pod; 0: 1 s.
	Poll time.Duration
}

const deleteTimeout = 2 * time.Minute

// Run creates a Job and deletes it, with its pod, when it or ctx has ended. Earlier Jobs of the
// same reservation are deleted first, unless their token is higher: a caller that is stopped or cut
// off does not delete its own. Cleaning and the guard begin with discover, so it does so too.
func (j *Jobs) Run(ctx context.Context, r Request, body []byte) (out Output, err error) {
	if r.Verb.hasSideEffects() || r.Verb == Discover && r.Reservation != nil && r.Lease.Token > 0 {
		if err := j.supersede(ctx, r); err != nil {
			return Output{}, err
		}
	}
	call := j.ID()
	own := labels.Set{LabelCall: call}.String()
	defer func() {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), deleteTimeout)
		defer cancel()
		stays := j.deleteAll(bounded, own)
		switch {
		case stays == nil:
		case err == nil: // the hook has ended: its result counts
			out.Log = slices.Insert(out.Log, 0, stays.Error()) // the last line is the hook's reason
		default:
			err = errors.Join(err, fmt.Errorf("%w: %w", ErrTemporary, stays))
		}
	}()
	job, err := j.Client.BatchV1().Jobs(j.Job.Namespace).Create(ctx, j.Job.object(r, call, remaining(ctx), proctree.DeadlineOf(ctx).Grace(lease.MaxStopTime)), metav1.CreateOptions{})
	if err != nil {
		return Output{}, fmt.Errorf("create the Job of %s: %w", r.Verb, temporary(ctx, err))
	}
	if _, err := j.Client.CoreV1().ConfigMaps(job.Namespace).Create(ctx, j.Job.request(job, body), metav1.CreateOptions{}); err != nil {
		return Output{}, fmt.Errorf("create the request of Job %s: %w", job.Name, temporary(ctx, err))
	}
	pod, err := j.waitForPod(ctx, job.Name, own)
	if err != nil {
		return Output{}, err
	}
	return j.output(ctx, pod)
}

// temporary marks an error of the API server as temporary, or adds the cause of ctx's end.
func temporary(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errors.Join(context.Cause(ctx), err)
	}
	return fmt.Errorf("%w: %w", ErrTemporary, err)
}

// remaining returns the time left for an attempt.
func remaining(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return maxTime
	}
	return time.Until(deadline)
}

// supersede deletes earlier Jobs of the reservation that have side effects; discover only those of
// earlier leases.
func (j *Jobs) supersede(ctx context.Context, r Request) error {
	others := labels.Set{LabelReservation: r.Reservation.Name, LabelChanges: "true"}.String()
	if !r.Verb.hasSideEffects() {
		others += "," + LabelToken + "!=" + strconv.FormatInt(r.Lease.Token, 10)
	}
	list, err := j.Client.BatchV1().Jobs(j.Job.Namespace).List(ctx, metav1.ListOptions{LabelSelector: others})
	if err != nil {
		return fmt.Errorf("list the Jobs of reservation %s: %w", r.Reservation.Name, temporary(ctx, err))
	}
	for _, other := range list.Items {
		token, err := strconv.ParseInt(other.Labels[LabelToken], 10, 64)
		if err != nil || token > r.Lease.Token {
			return fmt.Errorf("job %s is running for reservation %s: %w", other.Name, r.Reservation.Name,
				&lease.StaleError{Token: r.Lease.Token, Highest: token, State: lease.Leased, Holder: "the Job"})
		}
	}
	return j.deleteAll(ctx, others)
}

// waitForPod returns the pod when its first container has terminated.
func (j *Jobs) waitForPod(ctx context.Context, name, own string) (*corev1.Pod, error) {
	var done *corev1.Pod
	err := poll.Until(ctx, cmp.Or(j.Poll, time.Second), "Job "+name, func(ctx context.Context) error {
		pod, job, err := j.getPod(ctx, name, own)
		switch {
		case apierrors.IsNotFound(err):
			return poll.Stop(fmt.Errorf("%w: %w", ErrTemporary, err)) // another deleted it
		case err != nil:
			return err
		case pod != nil && ended(pod) != nil && disrupted(pod) != "" && !timedOut(job, pod):
			return poll.Stop(fmt.Errorf("%w: pod %s: %s", ErrDisrupted, pod.Name, disrupted(pod)))
		case pod != nil && ended(pod) != nil:
			done = pod
			return nil
		case pod == nil && failed(job) != "" && !timedOut(job, nil): // a hook that fails leaves its pod
			return poll.Stop(fmt.Errorf("%w: the pod of Job %s was deleted: %s", ErrDisrupted, name, failed(job)))
		case failed(job) != "":
			return poll.Stop(fmt.Errorf("job %s failed: %s: %w", name, failed(job), ErrTemporary))
		case pod != nil:
			return errors.New(waiting(pod))
		case job.Spec.Suspend != nil && *job.Spec.Suspend:
			return errSuspended
		}
		return errNoPod
	})
	return done, err
}

var (
	// errNoPod: the Job has not created its pod yet.
	errNoPod = errors.New("no pod was created")
	// errSuspended: a queue, such as Kueue, holds it back; a template that is suspended is refused.
	errSuspended = errors.New("no pod was created: the Job is suspended")
)

func (j *Jobs) getPod(ctx context.Context, name, own string) (*corev1.Pod, *batchv1.Job, error) {
	pods, err := j.Client.CoreV1().Pods(j.Job.Namespace).List(ctx, metav1.ListOptions{LabelSelector: own})
	if err != nil {
		return nil, nil, fmt.Errorf("list the pods of Job %s: %w", name, err)
	}
	job, err := j.Client.BatchV1().Jobs(j.Job.Namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, nil, fmt.Errorf("read Job %s: %w", name, err)
	}
	if len(pods.Items) == 0 {
		return nil, job, nil
	}
	return &pods.Items[0], job, nil
}

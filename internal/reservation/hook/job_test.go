package hook

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	k8stesting "k8s.io/client-go/testing"
	"sigs.k8s.io/yaml"

	"github.com/firstlight/firstlight/internal/poll/polltest"
	"github.com/firstlight/firstlight/internal/reservation/lease"
)

const template = `apiVersion: batch/v1
kind: Job
metadata:
  name: hook
spec:
  template:
    spec:
      containers:
        - name: hook
          image: registry.example/hooks:1
          command: [hook]
`

const namespace = "default"

// cluster is a real API server. Nothing makes pods of Jobs or runs them there: a test
// writes the pod, and the status that a kubelet would.
func cluster(t *testing.T) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(shared.Store(t).Config)
	if err != nil {
		t.Fatal(err)
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	if _, err := client.CoreV1().ServiceAccounts(namespace).Create(t.Context(), account, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	return client
}

func jobs(t *testing.T, client kubernetes.Interface) *Jobs {
	t.Helper()
	j, err := parseJob([]byte(template), namespace)
	if err != nil {
		t.Fatal(err)
	}
	return &Jobs{Job: j, Client: client, ID: randomID, Poll: 10 * time.Millisecond}
}

func await[T any](t *testing.T, what string, f func() (T, bool)) T {
	t.Helper()
	var v T
	polltest.Until(t, what, func() (ok bool) { v, ok = f(); return ok })
	return v
}

// theJob is the one that a call made, by its verb and reservation.
func theJob(t *testing.T, client kubernetes.Interface, r Request) *batchv1.Job {
	t.Helper()
	return await(t, "a Job", func() (*batchv1.Job, bool) {
		list, err := client.BatchV1().Jobs(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: LabelReservation + "=" + r.Reservation.Name + "," + LabelVerb + "=" + string(r.Verb)})
		if err != nil {
			return nil, false
		}
		for i := range list.Items {
			if list.Items[i].DeletionTimestamp == nil {
				return &list.Items[i], true
			}
		}
		return nil, false
	})
}

// podOf plays the Job's controller.
func podOf(t *testing.T, client kubernetes.Interface, job *batchv1.Job) *corev1.Pod {
	t.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: job.Name + "-x", Namespace: namespace, Labels: job.Spec.Template.Labels}, Spec: job.Spec.Template.Spec}
	pod, err := client.CoreV1().Pods(namespace).Create(t.Context(), pod, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return pod
}

// end plays the kubelet.
func end(t *testing.T, client kubernetes.Interface, pod *corev1.Pod, status int32, message string) {
	t.Helper()
	pod.Status.Phase = corev1.PodSucceeded
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "hook", State: corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{ExitCode: status, Message: message},
	}}}
	if _, err := client.CoreV1().Pods(namespace).UpdateStatus(t.Context(), pod, metav1.UpdateOptions{}); err != nil {
		t.Error(err)
	}
}

// left counts what there is of a reservation.
func leftOf(t *testing.T, client kubernetes.Interface, reservation string) int {
	t.Helper()
	by := metav1.ListOptions{LabelSelector: LabelReservation + "=" + reservation}
	ctx := context.WithoutCancel(t.Context())
	j, err1 := client.BatchV1().Jobs(namespace).List(ctx, by)
	p, err2 := client.CoreV1().Pods(namespace).List(ctx, by)
	c, err3 := client.CoreV1().ConfigMaps(namespace).List(ctx, by)
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	n := len(p.Items) + len(c.Items)
	for _, job := range j.Items {
		if job.DeletionTimestamp == nil {
			n++ // no controller removes a finalizer
		}
	}
	return n
}

type called struct {
	out Output
	err error
}

func call(t *testing.T, ctx context.Context, j *Jobs, r Request) <-chan called { //nolint:revive // a test first
	t.Helper()
	answer := make(chan called, 1)
	body := text(t, r)
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	go func() {
		defer cancel()
		out, err := j.Run(ctx, r, []byte(body))
		answer <- called{out, err}
	}()
	return answer
}

func ofReservation(name string, verb Verb) Request {
	r := asked(verb)
	r.Reservation.Name = name
	return r
}

func TestJob(t *testing.T) {
	client := cluster(t)
	const response = `{"apiVersion":"hooks.firstlight.dev/v1","deleted":true}`
	for _, tt := range []struct {
		name          string
		status        int32
		message, logs string
		logErr        error
		response      string
		log, err      string
	}{
		{"message", 0, response + "\n", "one\ntwo\n", nil, response, "two", ""},
		{"log", 0, "", "one\n" + response + "\n\n", nil, response, "one", ""},
		{"temporary", 75, "", "one\nthrottled\n", nil, "", "throttled", ""},
		{"failed", 4, response, "", errors.New("no log"), response, "", ""},
		{"unread", 0, "", "", errors.New("no log"), "", "", "no log"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := jobs(t, client)
			j.Logs = func(context.Context, string, string, string) ([]byte, error) { return []byte(tt.logs), tt.logErr }
			r := ofReservation("job-"+tt.name, Teardown)
			answer := call(t, t.Context(), j, r)
			job := theJob(t, client, r)
			cm := await(t, "its request", func() (*corev1.ConfigMap, bool) {
				cm, err := client.CoreV1().ConfigMaps(namespace).Get(t.Context(), job.Name, metav1.GetOptions{})
				return cm, err == nil
			})
			if got, err := ParseRequest([]byte(cm.Data[requestFile])); err != nil || got.Deployment != r.Deployment {
				t.Errorf("the request is %+v: %v", got, err)
			}
			if cm.OwnerReferences[0].UID != job.UID || *job.Spec.BackoffLimit != 0 || *job.Spec.ActiveDeadlineSeconds < 1 {
				t.Errorf("the Job is %+v", job.Spec)
			}
			if c := job.Spec.Template.Spec.Containers[0]; c.Env[0].Value != "/var/run/firstlight/hook/request.json" || c.VolumeMounts[0].MountPath != requestDir {
				t.Errorf("its container is %+v", c)
			}
			end(t, client, podOf(t, client, job), tt.status, tt.message)
			got := <-answer
			if (got.err == nil) != (tt.err == "") || got.err != nil && !strings.Contains(got.err.Error(), tt.err) {
				t.Fatalf("got %v", got.err)
			}
			if got.err == nil && (got.out.Status != int(tt.status) || string(got.out.Response) != tt.response) {
				t.Errorf("status %d, response %q", got.out.Status, got.out.Response)
			}
			if tt.log != "" && (len(got.out.Log) == 0 || got.out.Log[len(got.out.Log)-1] != tt.log) {
				t.Errorf("log %q", got.out.Log)
			}
			if n := leftOf(t, client, r.Reservation.Name); n != 0 {
				t.Errorf("%d objects are left", n)
			}
		})
	}
}

// A Job that cannot run fails with the reason, and is deleted.
func TestJobThatFails(t *testing.T) {
	client := cluster(t)
	r := ofReservation("job-deadline", Provision)
	answer := call(t, t.Context(), jobs(t, client), r)
	job := theJob(t, client, r)
	pod := podOf(t, client, job)
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "hook", State: corev1.ContainerState{
		Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "no such image"},
	}}}
	if _, err := client.CoreV1().Pods(namespace).UpdateStatus(t.Context(), pod, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	now := metav1.Now()
	job.Status.StartTime = &now
	job.Status.Conditions = []batchv1.JobCondition{
		{Type: batchv1.JobFailureTarget, Status: corev1.ConditionTrue, Reason: "DeadlineExceeded"},
		{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Reason: "DeadlineExceeded"},
	}
	if _, err := client.BatchV1().Jobs(namespace).UpdateStatus(t.Context(), job, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	got := <-answer
	if got.err == nil || !errors.Is(got.err, ErrTemporary) || !strings.Contains(got.err.Error(), "DeadlineExceeded") {
		t.Errorf("got %v", got.err)
	}
	if n := leftOf(t, client, r.Reservation.Name); n != 0 {
		t.Errorf("%d objects are left", n)
	}
}

func TestJobIsEndedWithItsCaller(t *testing.T) {
	client := cluster(t)
	r := ofReservation("job-cancelled", Provision)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	answer := call(t, ctx, jobs(t, client), r)
	podOf(t, client, theJob(t, client, r))
	lost := errors.New("lease lost")
	cancel(lost)
	if got := <-answer; !errors.Is(got.err, lost) {
		t.Errorf("got %v", got.err)
	}
	if n := leftOf(t, client, r.Reservation.Name); n != 0 {
		t.Errorf("%d objects are left", n)
	}
}

// A pod without a grace period of its own ends as soon as a program does.
func TestPodHasTheGracePeriodOfAProgram(t *testing.T) {
	j, err := parseJob([]byte(template), namespace)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		set      *int64
		interval time.Duration
		want     int64
	}{
		{nil, time.Minute, 15},
		{new(int64(3)), time.Minute, 3},
		{nil, 20 * time.Second, 5},
		{new(int64(9)), 20 * time.Second, 5},
		{nil, 2 * time.Second, 1},
		{new(int64(0)), time.Minute, 1},
	} {
		j.Template.Spec.Template.Spec.TerminationGracePeriodSeconds = tt.set
		if got := j.object(asked(Provision), "x", time.Hour, lease.StopTime(tt.interval)).Spec.Template.Spec.TerminationGracePeriodSeconds; got == nil || *got != tt.want {
			t.Errorf("with an interval of %s: %v, want %d", tt.interval, got, tt.want)
		}
	}
}

// A pod that may run for longer could run while the next holder has the reservation.
func TestAGracePeriodLongerThanThatOfAProgramIsRefused(t *testing.T) {
	t.Parallel()
	for seconds, valid := range map[int64]bool{0: true, 15: true, 16: false, 60: false} {
		j := &batchv1.Job{}
		if err := yaml.UnmarshalStrict([]byte(template), j); err != nil {
			t.Fatal(err)
		}
		j.Spec.Template.Spec.TerminationGracePeriodSeconds = &seconds
		raw, err := yaml.Marshal(j)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := parseJob(raw, namespace); (err == nil) != valid || !valid && !strings.Contains(err.Error(), "terminationGracePeriodSeconds") {
			t.Errorf("%d s: %v", seconds, err)
		}
	}
}

// Earlier Jobs are deleted first; a later one is left alone.
func TestJobOfAnotherCaller(t *testing.T) {
	client := cluster(t)
	j, run := jobs(t, client), randomID()
	started := func(r Request) *corev1.Pod {
		job, err := client.BatchV1().Jobs(namespace).Create(t.Context(), j.Job.object(r, "of-"+r.Reservation.Name, time.Hour, lease.MaxStopTime), metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return podOf(t, client, job)
	}
	earlier, later := ofReservation("job-earlier-"+run, Provision), ofReservation("job-later-"+run, Provision)
	earlier.Lease.Token--
	later.Lease.Token++
	old := started(earlier)
	started(later)

	r := ofReservation("job-later-"+run, Teardown)
	var stale *lease.StaleError
	if _, err := j.Run(t.Context(), r, []byte(text(t, r))); !errors.As(err, &stale) || stale.Highest != later.Lease.Token {
		t.Errorf("with a later Job: %v", err)
	}
	if n := leftOf(t, client, "job-later-"+run); n != 2 {
		t.Errorf("of what a later caller started %d objects are left", n)
	}

	r = ofReservation("job-earlier-"+run, Teardown)
	answer := call(t, t.Context(), j, r)
	job := theJob(t, client, r)
	if _, err := client.CoreV1().Pods(namespace).Get(t.Context(), old.Name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the earlier pod runs with the new Job: %v", err)
	}
	end(t, client, podOf(t, client, job), 0, "{}")
	if got := <-answer; got.err != nil {
		t.Error(got.err)
	}
}

// The hook has ended when its Job is deleted: a failed deletion does not discard its result, and
// the hook is not run again.
func TestFailedDeletionKeepsTheResult(t *testing.T) {
	client := fake.NewClientset()
	client.PrependReactor("create", "jobs", func(a k8stesting.Action) (bool, runtime.Object, error) {
		job := a.(k8stesting.CreateAction).GetObject().(*batchv1.Job)
		return false, nil, client.Tracker().Add(&corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: job.Name, Namespace: namespace, Labels: job.Labels}, Spec: job.Spec.Template.Spec,
			Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "hook", State: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{Message: "{}"},
			}}}},
		})
	})
	client.PrependReactor("delete-collection", "pods", func(k8stesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("the API server is busy")
	})
	j := jobs(t, client)
	j.Logs = func(context.Context, string, string, string) ([]byte, error) { return []byte("done\n"), nil }
	r := ofReservation("job-slow", GetNodes)
	out, err := j.Run(t.Context(), r, []byte(text(t, r)))
	if err != nil || string(out.Response) != "{}" {
		t.Errorf("got %q, %v", out.Response, err)
	}
	if !strings.Contains(out.Log[0], "the API server is busy") || out.Log[1] != "done" {
		t.Errorf("the failed deletion is not logged: %q", out.Log)
	}
}

// A leader that is stopped or cut off deletes no Job. The next one, which cleans the reservation,
// deletes it before it lists the deployments: the Job could create another one afterwards.
func TestDiscoverUnderALeaseEndsTheJobsOfEarlierLeases(t *testing.T) {
	for name, tt := range map[string]struct {
		token int64
		want  string
	}{
		"cleaning": {token, LabelReservation + "=job-stopped," + LabelChanges + "=true," + LabelToken + "!=" + strconv.FormatInt(token, 10)},
		"no lease": {0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			client := fake.NewClientset()
			client.PrependReactor("create", "jobs", func(k8stesting.Action) (bool, runtime.Object, error) {
				return true, nil, errors.New("the rest is tested elsewhere")
			})
			r := ofReservation("job-stopped", Discover)
			r.Lease.Token = tt.token
			if _, err := jobs(t, client).Run(t.Context(), r, []byte(text(t, r))); err == nil {
				t.Fatal("a Job was created")
			}
			ended := ""
			for _, a := range client.Actions() {
				if a.GetVerb() == "create" {
					break
				}
				if d, ok := a.(k8stesting.DeleteCollectionAction); ok && a.GetResource().Resource == "jobs" {
					ended = d.GetListRestrictions().Labels.String()
				}
			}
			if ended != tt.want && !sameLabels(t, ended, tt.want) {
				t.Errorf("Jobs with labels %q are deleted first, want %q", ended, tt.want)
			}
		})
	}
}

func sameLabels(t *testing.T, a, b string) bool {
	t.Helper()
	left, errLeft := labels.Parse(a)
	right, errRight := labels.Parse(b)
	if errLeft != nil || errRight != nil {
		t.Fatal(errLeft, errRight)
	}
	return left.String() == right.String()
}

// A Job that a queue suspends has no pod. The error has the reason.
func TestSuspendedJobIsNamed(t *testing.T) {
	client := fake.NewClientset()
	client.PrependReactor("create", "jobs", func(a k8stesting.Action) (bool, runtime.Object, error) {
		a.(k8stesting.CreateAction).GetObject().(*batchv1.Job).Spec.Suspend = new(true)
		return false, nil, nil
	})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	r := ofReservation("job-suspended", GetNodes)
	if _, err := jobs(t, client).Run(ctx, r, []byte(text(t, r))); err == nil || !strings.Contains(err.Error(), "the Job is suspended") {
		t.Errorf("%v", err)
	}
}

// A Job that another deletes will never have a result: the attempt ends, and not at its limit.
func TestDeletedJobEndsItsAttempt(t *testing.T) {
	client := fake.NewClientset()
	client.PrependReactor("get", "jobs", func(a k8stesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewNotFound(batchv1.Resource("jobs"), a.(k8stesting.GetAction).GetName())
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r := ofReservation("job-deleted", GetNodes)
	if _, err := jobs(t, client).Run(ctx, r, []byte(text(t, r))); !errors.Is(err, ErrTemporary) || ctx.Err() != nil {
		t.Errorf("%v", err)
	}
}

package workload

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

func pod(name, index string, change func(*corev1.Pod)) corev1.Pod {
	p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{batchv1.JobCompletionIndexAnnotation: index}}}
	p.Status.Phase = corev1.PodPending
	if change != nil {
		change(&p)
	}
	return p
}

func bound(node string) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Spec.NodeName = node }
}

func refused(p *corev1.Pod) {
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "0/4 nodes are available"}}
}

func gated(p *corev1.Pod) {
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonSchedulingGated}}
}

func ended(phase corev1.PodPhase, code int32) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.NodeName, p.Status.Phase = "gpu-01", phase
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: "Error"}}}}
	}
}

func TestPlacement(t *testing.T) {
	t.Parallel()
	g := &Gang{Spec: Spec{Name: "g", Pods: 2}, scheduler: Native{}}
	for name, tt := range map[string]struct {
		pods            []corev1.Pod
		decided, looked bool
		bound, refused  int
	}{
		"nothing yet":             {nil, false, false, 0, 0},
		"pods without conditions": {[]corev1.Pod{pod("a", "0", nil), pod("b", "1", nil)}, false, false, 0, 0},
		"gated is not pending":    {[]corev1.Pod{pod("a", "0", gated), pod("b", "1", gated)}, false, false, 0, 0},
		"one of two refused":      {[]corev1.Pod{pod("a", "0", refused), pod("b", "1", nil)}, false, true, 0, 1},
		"all refused":             {[]corev1.Pod{pod("a", "0", refused), pod("b", "1", refused)}, true, true, 0, 2},
		"one placed, one refused": {[]corev1.Pod{pod("a", "0", bound("gpu-01")), pod("b", "1", refused)}, true, true, 1, 1},
		"all placed":              {[]corev1.Pod{pod("a", "0", bound("gpu-01")), pod("b", "1", bound("gpu-02"))}, true, true, 2, 0},
		"one placed, one missing": {[]corev1.Pod{pod("a", "0", bound("gpu-01"))}, false, true, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := g.placementOf(state{pods: tt.pods})
			if p.decided() != tt.decided || p.begun() != tt.looked || p.Bound != tt.bound || p.Refused != tt.refused {
				t.Errorf("%+v: decided %t, looked %t", p, p.decided(), p.begun())
			}
		})
	}
}

func TestAReplacedPodIsBoundOnce(t *testing.T) {
	t.Parallel()
	of := func(job, node string, created int64) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.CreationTimestamp = metav1.Unix(created, 0)
			p.OwnerReferences = []metav1.OwnerReference{{Kind: "Job", UID: types.UID(job), Controller: new(true)}}
			p.Spec.NodeName, p.Status.Phase = node, corev1.PodRunning
			p.UID = types.UID("uid-" + p.Name)
		}
	}
	deleting := func(p *corev1.Pod) {
		of("job", "gpu-01", 1)(p)
		p.DeletionTimestamp = &metav1.Time{}
	}
	waits := pod("d", "1", func(p *corev1.Pod) { of("job", "", 2)(p); p.Status.Phase = corev1.PodPending })
	for name, tt := range map[string]struct {
		before   corev1.Pod
		replaced int
	}{
		"a pod that was replaced":     {pod("a", "0", of("job", "gpu-01", 1)), 1},
		"a pod that is being deleted": {pod("b", "1", deleting), 1},
	} {
		g := &Gang{Spec: Spec{Name: "g", Pods: 2}, scheduler: Native{}, job: "job"}
		p := g.placementOf(state{pods: []corev1.Pod{tt.before, pod("e", "0", of("job", "gpu-02", 3)), waits}})
		if p.Bound != 1 || p.Exist != 2 || p.Nodes["e"] != "gpu-02" || len(p.UIDs) != 1 || p.UIDs["e"] != "uid-e" || p.Replaced != tt.replaced {
			t.Errorf("with %s: %+v", name, p)
		}
	}
}

func TestResult(t *testing.T) {
	t.Parallel()
	failedJob := &jobState{failed: (&Gang{}).failed(&batchv1.Job{Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Reason: "BackoffLimitExceeded"}}}})}
	for name, tt := range map[string]struct {
		s       state
		succeed bool
		reason  string
	}{
		"no pods at all":   {state{}, false, ""},
		"both succeeded":   {state{pods: []corev1.Pod{pod("a", "0", ended(corev1.PodSucceeded, 0)), pod("b", "1", ended(corev1.PodSucceeded, 0))}}, true, ""},
		"one of two there": {state{pods: []corev1.Pod{pod("a", "0", ended(corev1.PodSucceeded, 0))}}, false, ""},
		"one failed":       {state{pods: []corev1.Pod{pod("a", "0", ended(corev1.PodSucceeded, 0)), pod("b", "1", ended(corev1.PodFailed, 3))}}, false, ""},
		"job failed":       {state{job: failedJob, pods: []corev1.Pod{pod("a", "0", ended(corev1.PodSucceeded, 0)), pod("b", "1", ended(corev1.PodSucceeded, 0))}}, false, "BackoffLimitExceeded: "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := resultOf(Spec{Pods: 2}, tt.s)
			if r.Succeeded != tt.succeed || r.Reason != tt.reason {
				t.Errorf("%+v", r)
			}
		})
	}
	r := resultOf(Spec{Pods: 1}, state{pods: []corev1.Pod{pod("b", "1", ended(corev1.PodFailed, 3))}})
	if got := r.Pods[0].String(); got != "pod b on gpu-01: Failed, exit code 3, Error" {
		t.Error(got)
	}
}

// A gang whose pods were deleted and created again ran twice, in part or as a whole: Kueue stops and
// readmits the job that it evicts, the MPI Operator and Volcano create a deleted pod again.
func TestTheResultOfReplacedPodsIsNotThatOfOneRun(t *testing.T) {
	t.Parallel()
	done := func(name, index string) corev1.Pod {
		return pod(name, index, func(p *corev1.Pod) {
			ended(corev1.PodSucceeded, 0)(p)
			p.UID = types.UID("uid-" + p.Name)
		})
	}
	deleting := done("a-1", "0")
	deleting.DeletionTimestamp = &metav1.Time{}
	for name, tt := range map[string]struct {
		gone     []types.UID
		pods     []corev1.Pod
		restarts int32
		job      *jobState
		want     string
	}{
		"one run":                         {nil, []corev1.Pod{done("a", "0"), done("b", "1")}, 0, &jobState{}, ""},
		"evicted and readmitted":          {[]types.UID{"first-a", "first-b"}, []corev1.Pod{done("a", "0"), done("b", "1")}, 0, &jobState{}, "2 of its pods had been deleted"},
		"one worker was created again":    {[]types.UID{"first-b"}, []corev1.Pod{done("a", "0"), done("b", "1")}, 0, &jobState{}, "1 of its pods had been deleted"},
		"its successor has ended":         {nil, []corev1.Pod{done("a", "0"), deleting, done("b", "1")}, 0, &jobState{}, "1 of its pods had been deleted"},
		"the job's failure is the reason": {[]types.UID{"first-b"}, []corev1.Pod{done("a", "0"), done("b", "1")}, 0, &jobState{failed: "BackoffLimitExceeded: m"}, ""},
		"a gang that may restart":         {[]types.UID{"first-b"}, []corev1.Pod{done("a", "0"), done("b", "1")}, 3, &jobState{}, ""},
		"not ended":                       {[]types.UID{"first-b"}, []corev1.Pod{done("a", "0"), pod("b", "1", bound("gpu-02"))}, 0, &jobState{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := &Gang{Spec: Spec{Name: "g", Pods: 2, Restarts: tt.restarts}, everBound: map[types.UID]bool{}}
			for _, uid := range tt.gone {
				g.everBound[uid] = true
			}
			result, _, err := g.end(state{job: tt.job, pods: tt.pods})
			if (err == nil) != (tt.want == "") || err != nil && (!strings.Contains(err.Error(), tt.want) || result.Succeeded || !errors.Is(err, ErrReplaced) || errors.Is(err, ErrFailed)) {
				t.Errorf("%v, %+v; want %q", err, result, tt.want)
			}
		})
	}
}

func TestHopeless(t *testing.T) {
	t.Parallel()
	g := &Gang{Spec: Spec{Name: "g", Pods: 1}}
	waiting := func(reason string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "c", RestartCount: 4, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: "m"}}}}
		}
	}
	for reason, want := range map[string]string{
		"ContainerCreating": "",
		"ErrImagePull":      "",
		"ImagePullBackOff":  "ImagePullBackOff after 4 restarts: m",
		"CrashLoopBackOff":  "CrashLoopBackOff after 4 restarts: m",
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			err := g.terminalError(state{pods: []corev1.Pod{pod("a", "0", waiting(reason))}})
			if (err == nil) != (want == "") || (err != nil && !strings.Contains(err.Error(), want)) {
				t.Errorf("got %v, want %q", err, want)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	status := func(fields map[string]any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"status": fields}}
	}
	conditions := func(kind, value, reason string) []any {
		return []any{map[string]any{"type": kind, "status": value, "reason": reason, "message": "why"}}
	}
	for name, tt := range map[string]struct {
		scheduler Scheduler
		status    map[string]any
		want      bool
	}{
		"native refused":                {Native{}, map[string]any{"conditions": conditions("PodGroupScheduled", "False", "Unschedulable")}, true},
		"native error is not a refusal": {Native{}, map[string]any{"conditions": conditions("PodGroupScheduled", "False", "SchedulerError")}, false},
		"native placed":                 {Native{}, map[string]any{"conditions": conditions("PodGroupScheduled", "True", "Scheduled")}, false},
		// Renamed in Kubernetes 1.37 (kubernetes/kubernetes 139743).
		"native of 1.37 refused":         {Native{}, map[string]any{"conditions": conditions("PodGroupInitiallyScheduled", "False", "Unschedulable")}, true},
		"native of 1.37, an error":       {Native{}, map[string]any{"conditions": conditions("PodGroupInitiallyScheduled", "False", "SchedulerError")}, false},
		"native of 1.37 placed":          {Native{}, map[string]any{"conditions": conditions("PodGroupInitiallyScheduled", "True", "Scheduled")}, false},
		"volcano refused":                {Volcano{}, map[string]any{"phase": "Inqueue", "conditions": conditions("Unschedulable", "True", "NotEnoughResources")}, true},
		"volcano's old refusal, running": {Volcano{}, map[string]any{"phase": "Running", "conditions": conditions("Unschedulable", "True", "NotEnoughResources")}, false},
		"kai refused":                    {KAI{}, map[string]any{"schedulingConditions": conditions("UnschedulableOnNodePool", "True", "x")}, true},
		"kai silent":                     {KAI{}, map[string]any{}, false},
		"kueue refused":                  {Kueue{}, map[string]any{"conditions": conditions("QuotaReserved", "False", "Pending")}, true},
		"kueue admitted":                 {Kueue{}, map[string]any{"conditions": conditions("QuotaReserved", "True", "QuotaReserved")}, false},
		"nonsense":                       {Native{}, map[string]any{"conditions": "x"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			why, got := tt.scheduler.Refused(status(tt.status))
			if got != tt.want || (got && why != "why") {
				t.Errorf("refused %t (%q), want %t", got, why, tt.want)
			}
		})
	}
}

func TestPodsAreInTheOrderOfTheirIndex(t *testing.T) {
	t.Parallel()
	pods := []corev1.Pod{pod("c", "10", nil), pod("a", "2", nil), pod("b", "0", nil), pod("d", "x", nil)}
	sortPods(pods)
	var got []string
	for _, p := range pods {
		got = append(got, p.Name)
	}
	if diff := cmp.Diff([]string{"d", "b", "a", "c"}, got); diff != "" {
		t.Error(diff)
	}
}

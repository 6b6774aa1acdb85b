package fanout

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
)

// podOf is a pod of a shard.
func podOf(shard int, name string, changes ...func(*corev1.Pod)) corev1.Pod {
	p := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{batchv1.JobCompletionIndexAnnotation: strconv.Itoa(shard)}}}
	p.Status.Phase = corev1.PodPending
	for _, change := range changes {
		change(&p)
	}
	return p
}

func later(p *corev1.Pod) { p.CreationTimestamp = metav1.NewTime(time.Unix(1000, 0)) }

func on(node string) func(*corev1.Pod) { return func(p *corev1.Pod) { p.Spec.NodeName = node } }

func unschedulable(message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: message}}
	}
}

func waits(reason, message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.NodeName = "n1"
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}}}
	}
}

func runs(p *corev1.Pod) {
	p.Spec.NodeName, p.Status.Phase = "n1", corev1.PodRunning
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
}

func exited(code int32, reason, message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.NodeName, p.Status.Phase = "n1", corev1.PodFailed
		if code == 0 {
			p.Status.Phase = corev1.PodSucceeded
		}
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason, Message: message},
		}}}
	}
}

func jobWith(completed, failed string, conditions ...batchv1.JobCondition) *batchv1.Job {
	j := &batchv1.Job{}
	j.Status.CompletedIndexes = completed
	if failed != "" {
		j.Status.FailedIndexes = &failed
	}
	j.Status.Conditions = conditions
	return j
}

func refusal(count int32, message string) corev1.Event {
	return corev1.Event{Reason: "FailedCreate", Count: count, Message: message}
}

func TestParseIndexes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]int{
		"": nil, "0": {0}, "0,2": {0, 2}, "1-3": {1, 2, 3}, "0,2-4,9": {0, 2, 3, 4, 9},
	} {
		got, err := parseIndexes(text, 10)
		if err != nil || !slices.Equal(slices.Sorted(maps.Keys(got)), want) {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"10", "0-10", "-1", "3-1", "x", "1,", "1--2", "0-999999999999"} {
		if got, err := parseIndexes(text, 10); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		p    status
		want Progress
	}{
		"before anything":         {status{}, Progress{Phase: Waiting, Text: "for a free slot"}},
		"its pod is refused":      {status{job: jobWith("", ""), refusals: []corev1.Event{refusal(1, "exceeded quota")}}, Progress{Phase: Waiting, Text: "its pod was rejected: exceeded quota"}},
		"the scheduler is busy":   {status{pods: []corev1.Pod{podOf(0, "a")}}, Progress{Phase: Waiting, Text: "for the scheduler"}},
		"there is no room":        {status{pods: []corev1.Pod{podOf(0, "a", unschedulable("0/3 nodes are available: 3 Insufficient cpu."))}}, Progress{Phase: Waiting, Text: "for resources: 0/3 nodes are available: 3 Insufficient cpu."}},
		"its image is pulled":     {status{pods: []corev1.Pod{podOf(0, "a", waits("ContainerCreating", ""))}}, Progress{Phase: Waiting, Text: "on n1: ContainerCreating"}},
		"its image is missing":    {status{pods: []corev1.Pod{podOf(0, "a", waits("ImagePullBackOff", "no such image"))}}, Progress{Phase: Waiting, Text: "on n1: ImagePullBackOff: no such image"}},
		"bound":                   {status{pods: []corev1.Pod{podOf(0, "a", on("n2"))}}, Progress{Phase: Waiting, Text: "on n2: for its container"}},
		"running":                 {status{pods: []corev1.Pod{podOf(0, "a", runs)}}, Progress{Phase: Running, Text: "on n1"}},
		"ended, not counted yet":  {status{pods: []corev1.Pod{podOf(0, "a", exited(0, "Completed", ""))}}, Progress{Phase: Running, Text: "finished, not yet counted by the Job"}},
		"failed, not tried again": {status{pods: []corev1.Pod{podOf(0, "a", exited(137, "OOMKilled", ""))}}, Progress{Phase: Waiting, Text: "for the Job controller after exit code 137 (OOMKilled)"}},
		"running again":           {status{pods: []corev1.Pod{podOf(0, "b", later, runs), podOf(0, "a", exited(3, "Error", ""))}}, Progress{Phase: Running, Text: "attempt 2 after exit code 3: on n1"}},
		"given up":                {status{job: jobWith("", "0"), pods: []corev1.Pod{podOf(0, "a", exited(2, "Error", ""))}}, Progress{Phase: Failed, Text: "failed: exit code 2"}},
		"given up, without a pod": {status{job: jobWith("", "0")}, Progress{Phase: Failed, Text: "failed: no pod left"}},
		"done":                    {status{job: jobWith("0", ""), pods: []corev1.Pod{podOf(0, "a", exited(0, "Completed", ""))}}, Progress{Phase: Done}},
		"a pod of another shard":  {status{pods: []corev1.Pod{podOf(1, "a", runs)}}, Progress{Phase: Waiting, Text: "for a free slot"}},
		"evicted before it began": {status{pods: []corev1.Pod{podOf(0, "a", on("n1"), func(p *corev1.Pod) {
			p.Status.Phase, p.Status.Reason, p.Status.Message = corev1.PodFailed, "Evicted", "low on memory"
		})}}, Progress{Phase: Waiting, Text: "for the Job controller after Evicted: low on memory"}},
		"impossible indexes": {status{job: jobWith("0-7", "")}, Progress{Phase: Waiting, Text: "for a free slot"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.p.shards = 2
			if diff := cmp.Diff(tt.want, tt.p.progress()[0]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestProgressCountsReports(t *testing.T) {
	t.Parallel()
	var m corev1.ConfigMap
	if err := defaultLimits.seal(sealedOf(reportOf("a", "b")), &m); err != nil {
		t.Fatal(err)
	}
	m.Labels = map[string]string{LabelShard: "1"}
	p := status{shards: 2, job: jobWith("1", ""), reports: []corev1.ConfigMap{m}, cache: map[string]decoded{}}
	for range 2 { // as it is read, and as it was kept
		if got := p.progress()[1]; got.Verdict != check.Passed || got.Text != "2 recipes passed" {
			t.Error(got)
		}
		p.reports[0].Data = nil
	}
}

func TestChanges(t *testing.T) {
	t.Parallel()
	last := map[int]Progress{}
	now := []Progress{{Shard: 0, Phase: Waiting}, {Shard: 1, Phase: Waiting}}
	if got := changes(last, now); len(got) != 2 {
		t.Error(got)
	}
	if got := changes(last, now); len(got) != 0 {
		t.Error(got)
	}
	now[1].Phase = Running
	if got := changes(last, now); len(got) != 1 || got[0].Shard != 1 {
		t.Error(got)
	}
}

func TestHopeless(t *testing.T) {
	t.Parallel()
	pull := podOf(0, "a", waits("ImagePullBackOff", "no such image"))
	twice := []corev1.Event{refusal(1, "exceeded quota"), refusal(1, "exceeded quota")}
	succeeded := jobWith("", "")
	succeeded.Status.Succeeded = 1
	var m corev1.ConfigMap
	for name, tt := range map[string]struct {
		p    status
		want string
	}{
		"nothing yet":                     {status{job: jobWith("", "")}, ""},
		"refused once":                    {status{job: jobWith("", ""), refusals: twice[:1]}, ""},
		"refused twice":                   {status{job: jobWith("", ""), refusals: twice}, "rejects the Job's pods: exceeded quota"},
		"refused twice, told once":        {status{job: jobWith("", ""), refusals: []corev1.Event{refusal(2, "violates PodSecurity")}}, "violates PodSecurity"},
		"one refused, one exists":         {status{job: jobWith("", ""), refusals: twice, pods: []corev1.Pod{podOf(0, "a")}}, ""},
		"no image":                        {status{job: jobWith("", ""), pods: []corev1.Pod{pull}}, "pod a cannot start on node n1: ImagePullBackOff: no such image"},
		"an image that runs as root":      {status{job: jobWith("", ""), pods: []corev1.Pod{podOf(0, "a", waits("CreateContainerConfigError", "image will run as root"))}}, "image will run as root"},
		"being pulled":                    {status{job: jobWith("", ""), pods: []corev1.Pod{podOf(0, "a", waits("ErrImagePull", "timeout"))}}, ""},
		"no image on one node":            {status{job: jobWith("", ""), pods: []corev1.Pod{pull, podOf(1, "b", runs)}}, ""},
		"no image after one was done":     {status{job: succeeded, pods: []corev1.Pod{pull}}, ""},
		"no image after one was reported": {status{job: jobWith("", ""), pods: []corev1.Pod{pull}, reports: []corev1.ConfigMap{m}}, ""},
		"no room":                         {status{job: jobWith("", ""), pods: []corev1.Pod{podOf(0, "a", unschedulable("0/3 nodes"))}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := tt.p.terminalError(true)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	if err := (&status{}).terminalError(false); err != nil {
		t.Errorf("a Job that is not seen yet is hopeless: %v", err)
	}
	if err := (&status{}).terminalError(true); err == nil || !strings.Contains(err.Error(), "deleted") {
		t.Errorf("a Job that is gone: %v", err)
	}
}

func TestLastLines(t *testing.T) {
	t.Parallel()
	var long []string
	for i := range 40 {
		long = append(long, "line "+strconv.Itoa(i))
	}
	for text, want := range map[string]string{
		"": "", "\n\n": "", "a": "    a", "a\r\nb\n": "    a\n    b", "a\xffb": "    a?b",
	} {
		if got := lastLines(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	got := strings.Split(lastLines(strings.Join(long, "\n")), "\n")
	if len(got) != logLines || got[0] != "    line 28" || got[11] != "    line 39" {
		t.Errorf("%q", got)
	}
	data, err := tail(strings.NewReader(strings.Repeat("x", 100)+"end"), 8)
	if err != nil || string(data) != "xxxxxend" {
		t.Errorf("%q, %v", data, err)
	}
}

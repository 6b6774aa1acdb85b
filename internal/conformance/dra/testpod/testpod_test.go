package testpod

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/probe/kube"
)

func TestWhatIsCreatedIsTheRuns(t *testing.T) {
	t.Parallel()
	s := Spec{
		Name: "one", Check: "some_check", Image: "image", Nodes: []string{"gpu-01", "gpu-02"}, Claim: &Claim{CEL: "false"},
		Containers: []Container{{Name: "a", Script: Sleep, Claims: true}, {Name: "b", Script: Sleep}},
	}
	pod, template := s.Pod("r1", "ns"), s.Template("r1", "ns")
	for what, labels := range map[string]map[string]string{"pod": pod.Labels, "template": template.Labels, "claim": template.Spec.Labels} {
		if labels[kube.LabelRun] != "r1" || labels[kube.LabelGate] != "some_check" {
			t.Errorf("%s: labels %v", what, labels)
		}
	}
	if len(pod.Spec.Containers[0].Resources.Claims) != 1 || len(pod.Spec.Containers[1].Resources.Claims) != 0 {
		t.Error("the claim is not the first container's alone")
	}
	for _, c := range pod.Spec.Containers {
		if len(c.Resources.Limits) > 0 || *c.SecurityContext.Privileged {
			t.Errorf("container %s: %+v", c.Name, c)
		}
	}
	terms := pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
	if len(terms) != 2 || terms[1].MatchFields[0].Values[0] != "gpu-02" {
		t.Errorf("nodes %+v", terms)
	}
	if pod.Spec.PriorityClassName != kube.PriorityClassOf("r1") || *pod.Spec.AutomountServiceAccountToken || *pod.Spec.ActiveDeadlineSeconds > 2*3600 {
		t.Errorf("pod %+v", pod.Spec)
	}
	if got := template.Spec.Spec.Devices.Requests[0].Exactly; got.Count != 1 || got.DeviceClassName != "gpu.nvidia.com" || got.Selectors[0].CEL.Expression != "false" {
		t.Errorf("claim %+v", got)
	}
	s.Claim, s.Nodes = nil, nil
	if pod := s.Pod("r1", "ns"); s.Template("r1", "ns") != nil || len(pod.Spec.ResourceClaims) > 0 || pod.Spec.Affinity != nil {
		t.Errorf("without a claim: %+v", pod.Spec)
	}
}

func TestSeen(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(at)}}
	tests := map[string]struct {
		status              corev1.PodStatus
		runs, over, refused bool
		state               string
	}{
		"nothing is known": {state: ""},
		"runs": {status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{Name: "a", State: running}, {Name: "b", State: running}}},
			runs: true, state: "Running"},
		"one of two":            {status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{Name: "a", State: running}, {Name: "b"}}}, state: "Running"},
		"once more":             {status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{Name: "a", State: running, RestartCount: 1}}}, state: "Running"},
		"no word of containers": {status: corev1.PodStatus{Phase: corev1.PodRunning}, state: "Running"},
		"ended":                 {status: corev1.PodStatus{Phase: corev1.PodSucceeded}, over: true, state: "Succeeded"},
		"failed":                {status: corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Why", Message: "so"}, over: true, state: "Failed: Why: so"},
		"refused": {status: corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "no room"}}},
			refused: true, state: "Pending: no room"},
		"gated": {status: corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "SchedulingGated", Message: "gate"}}},
			state: "Pending: gate"},
		"waits": {status: corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{{Name: "a", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "gone"}}}}},
			state: "Pending: container a waits: ErrImagePull gone"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := statusOf(at, &corev1.Pod{Status: tt.status}, nil)
			if s.Running() != tt.runs || s.Terminated() != tt.over || s.Unschedulable() != tt.refused || s.Summary() != tt.state {
				t.Errorf("runs %t, over %t, refused %t, state %q", s.Running(), s.Terminated(), s.Unschedulable(), s.Summary())
			}
		})
	}
}

func TestClaimState(t *testing.T) {
	t.Parallel()
	c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Name: "c", UID: "u"}}
	if got := claimStatus(c); got.Allocated || len(got.Devices) > 0 {
		t.Errorf("%+v", got)
	}
	c.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: []resourcev1.DeviceRequestAllocationResult{{Driver: "d", Pool: "p", Device: "x"}}}}
	c.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{UID: "pod"}}
	if got := claimStatus(c); !got.Allocated || got.Devices[0] != (Device{Driver: "d", Pool: "p", Device: "x"}) || got.ReservedFor[0] != "pod" {
		t.Errorf("%+v", got)
	}
}

package workload

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Result is the result of a gang.
type Result struct {
	// Succeeded is set if a pod of every index, and no other pod, exited with code 0.
	Succeeded bool `json:"succeeded"`
	// Reason is the reason and message of a failed Job.
	Reason string    `json:"reason,omitempty"`
	Pods   []Outcome `json:"pods"`
}

// Outcome is the state of one pod.
type Outcome struct {
	Pod   string `json:"pod"`
	Index int    `json:"index"`
	Node  string `json:"node"`
	// Image is the imageID of the first container, with its digest, as the kubelet reports it; empty
	// before it runs.
	Image string `json:"image,omitempty"`
	// Host is the pod's host name; empty if it is the pod's name.
	Host     string    `json:"host,omitempty"`
	Phase    string    `json:"phase"`
	ExitCode *int32    `json:"exitCode,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	Message  string    `json:"message,omitempty"`
	Restarts int32     `json:"restarts,omitempty"`
	Started  time.Time `json:"started,omitzero"`
	Finished time.Time `json:"finished,omitzero"`
	// Stuck is why a container cannot start.
	Stuck string `json:"stuck,omitempty"`
}

func (o Outcome) ended() bool {
	return o.Phase == string(corev1.PodSucceeded) || o.Phase == string(corev1.PodFailed)
}

// String is a one-line description.
func (o Outcome) String() string {
	text := fmt.Sprintf("pod %s on %s: %s", o.Pod, o.Node, o.Phase)
	if o.ExitCode != nil {
		text += fmt.Sprintf(", exit code %d", *o.ExitCode)
	}
	if o.Reason != "" {
		text += ", " + o.Reason
	}
	if o.Message != "" {
		text += ": " + o.Message
	}
	return text
}

func resultOf(spec Spec, s state) Result {
	r := Result{Succeeded: true}
	succeeded := map[int]bool{}
	for i := range s.pods {
		o := outcomeOf(&s.pods[i])
		r.Pods = append(r.Pods, o)
		if o.Phase != string(corev1.PodSucceeded) {
			r.Succeeded = false
		}
		succeeded[o.Index] = true
	}
	r.Succeeded = r.Succeeded && len(succeeded) >= spec.Pods
	if s.job != nil && s.job.failed != "" {
		r.Reason, r.Succeeded = s.job.failed, false
	}
	return r
}

func outcomeOf(pod *corev1.Pod) Outcome {
	o := Outcome{
		Pod: pod.Name, Index: Index(pod), Node: pod.Spec.NodeName, Host: pod.Spec.Hostname,
		Phase: string(pod.Status.Phase), Reason: pod.Status.Reason, Message: pod.Status.Message, Stuck: stuck(pod),
	}
	for _, c := range pod.Status.ContainerStatuses {
		o.Image = cmp.Or(o.Image, c.ImageID)
		o.Restarts += c.RestartCount
		if run := c.State.Running; run != nil {
			o.Started = run.StartedAt.Time
		}
		if end := c.State.Terminated; end != nil {
			code := end.ExitCode
			o.ExitCode = &code
			o.Started, o.Finished = end.StartedAt.Time, end.FinishedAt.Time
			if o.Reason == "" {
				o.Reason, o.Message = end.Reason, end.Message
			}
		}
	}
	return o
}

// stuckReasons are the kubelet's waiting reasons of a container that cannot start without
// intervention.
func stuckReasons() []string {
	return []string{"CrashLoopBackOff", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError", "CreateContainerError"}
}

// stuck is why a pod's container cannot start; "" if it can.
func stuck(pod *corev1.Pod) string {
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if w := c.State.Waiting; w != nil && slices.Contains(stuckReasons(), w.Reason) {
			text := fmt.Sprintf("container %s: %s", c.Name, w.Reason)
			if c.RestartCount > 0 {
				text += fmt.Sprintf(" after %d restarts", c.RestartCount)
			}
			if w.Message != "" {
				text += ": " + w.Message
			}
			return text
		}
	}
	return ""
}

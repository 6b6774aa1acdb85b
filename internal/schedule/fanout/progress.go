package fanout

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/check"
)

// Phase of a shard.
type Phase string

// Phases of a shard.
const (
	Waiting Phase = "waiting"
	Running Phase = "running"
	// Done: it published its report and exited with code 0, whatever the verdict.
	Done Phase = "done"
	// Failed: the Job gave up on it.
	Failed Phase = "failed"
)

// Progress of a shard.
type Progress struct {
	Shard int
	Phase Phase
	// Verdict of its report, once it is done and the report is readable.
	Verdict check.Verdict
	// Text has details: the waiting reason, the node or the result.
	Text string
}

// progress of every shard.
func (p *status) progress() []Progress {
	completed, failed := p.completed(), p.failed()
	out := make([]Progress, p.shards)
	byShard := map[int][]corev1.Pod{}
	for i := range p.pods {
		byShard[indexOf(&p.pods[i])] = nil
	}
	for shard := range byShard {
		byShard[shard] = p.podsOfShard(shard)
	}
	reported := p.reported()
	for i := range out {
		out[i] = Progress{Shard: i}
		switch {
		case completed[i]:
			summary := reported[strconv.Itoa(i)]
			out[i].Phase, out[i].Verdict, out[i].Text = Done, summary.verdict, summary.reason
		case failed[i]:
			out[i].Phase, out[i].Text = Failed, "failed: "+exitReason(byShard[i])
		default:
			out[i].Phase, out[i].Text = p.current(byShard[i])
		}
	}
	return out
}

// decoded is the summary of a report.
type decoded struct {
	verdict check.Verdict
	reason  string
}

// reported summarizes the reports by shard label.
func (p *status) reported() map[string]decoded {
	out := map[string]decoded{}
	for i := range p.reports {
		m := &p.reports[i]
		version := m.Name + "@" + m.ResourceVersion
		summary, known := p.cache[version]
		if !known {
			if s, err := defaultLimits.unseal(m); err == nil {
				summary = decoded{s.Report.Verdict, s.Report.Reason}
			}
			if p.cache != nil {
				p.cache[version] = summary
			}
		}
		out[m.Labels[LabelShard]] = summary
	}
	return out
}

// current is the phase of an unfinished shard, from its newest pod.
func (p *status) current(pods []corev1.Pod) (Phase, string) {
	if len(pods) == 0 {
		if len(p.refusals) > 0 {
			return Waiting, "its pod was rejected: " + p.refusals[len(p.refusals)-1].Message
		}
		return Waiting, "for a free slot"
	}
	pod := &pods[len(pods)-1]
	retry := ""
	if len(pods) > 1 {
		retry = fmt.Sprintf("attempt %d after %s: ", len(pods), exitReason(pods[:len(pods)-1]))
	}
	if pod.Spec.NodeName == "" {
		if why := unschedulableMessage(pod); why != "" {
			return Waiting, retry + "for resources: " + why
		}
		return Waiting, retry + "for the scheduler"
	}
	if reason, message := waitReason(pod); reason != "" {
		return Waiting, retry + strings.TrimSuffix(fmt.Sprintf("on %s: %s: %s", pod.Spec.NodeName, reason, message), ": ")
	}
	switch pod.Status.Phase {
	case corev1.PodRunning:
		return Running, retry + "on " + pod.Spec.NodeName
	case corev1.PodFailed:
		return Waiting, "for the Job controller after " + exitReason(pods)
	case corev1.PodSucceeded:
		return Running, "finished, not yet counted by the Job"
	case corev1.PodPending, corev1.PodUnknown:
	}
	return Waiting, retry + "on " + pod.Spec.NodeName + ": for its container"
}

// exitReason is how the newest pod ended, in one line.
func exitReason(pods []corev1.Pod) string {
	if len(pods) == 0 {
		return "no pod left"
	}
	pod := &pods[len(pods)-1]
	for _, s := range pod.Status.ContainerStatuses {
		if t := s.State.Terminated; t != nil {
			text := fmt.Sprintf("exit code %d", t.ExitCode)
			if t.Reason != "" && t.Reason != "Error" && t.Reason != "Completed" {
				text += " (" + t.Reason + ")"
			}
			if pod.Status.Reason != "" {
				text += ", " + pod.Status.Reason
			}
			return text
		}
	}
	if pod.Status.Reason != "" {
		return strings.TrimSuffix(pod.Status.Reason+": "+pod.Status.Message, ": ")
	}
	return "its pod is " + string(pod.Status.Phase)
}

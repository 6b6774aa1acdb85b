package fanout

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/check"
)

// Phase is how far a shard is.
type Phase string

// Phases of a shard.
const (
	Waiting Phase = "waiting"
	Running Phase = "running"
	// Done: it published its report and ended well; what is in it is another thing.
	Done Phase = "done"
	// Failed: the Job gave it up.
	Failed Phase = "failed"
)

// Progress is how a shard stands.
type Progress struct {
	Shard int
	Phase Phase
	// Verdict is that of its report, once it is done and the report can be read.
	Verdict check.Verdict
	// Text says more: what it waits for, where it runs, what it reported.
	Text string
}

// progress tells of every shard.
func (p *picture) progress() []Progress {
	completed, failed := p.completed(), p.failed()
	out := make([]Progress, p.shards)
	byShard := map[int][]corev1.Pod{}
	for i := range p.pods {
		byShard[indexOf(&p.pods[i])] = nil
	}
	for shard := range byShard {
		byShard[shard] = p.of(shard)
	}
	reported := p.reported()
	for i := range out {
		out[i] = Progress{Shard: i}
		switch {
		case completed[i]:
			says := reported[strconv.Itoa(i)]
			out[i].Phase, out[i].Verdict, out[i].Text = Done, says.verdict, says.reason
		case failed[i]:
			out[i].Phase, out[i].Text = Failed, "given up: "+lastWords(byShard[i])
		default:
			out[i].Phase, out[i].Text = p.current(byShard[i])
		}
	}
	return out
}

// said is what a report says, in short.
type said struct {
	verdict check.Verdict
	reason  string
}

// reported is what the reports that are there say, by the label of their shard.
func (p *picture) reported() map[string]said {
	out := map[string]said{}
	for i := range p.reports {
		m := &p.reports[i]
		version := m.Name + "@" + m.ResourceVersion
		says, known := p.told[version]
		if !known {
			if s, err := fullRoom.unseal(m); err == nil {
				says = said{s.Report.Verdict, s.Report.Reason}
			}
			if p.told != nil {
				p.told[version] = says
			}
		}
		out[m.Labels[LabelShard]] = says
	}
	return out
}

// current is how a shard stands that has not ended: by its newest pod.
func (p *picture) current(pods []corev1.Pod) (Phase, string) {
	if len(pods) == 0 {
		if len(p.refusals) > 0 {
			return Waiting, "its pod is refused: " + p.refusals[len(p.refusals)-1].Message
		}
		return Waiting, "for its turn"
	}
	pod := &pods[len(pods)-1]
	again := ""
	if len(pods) > 1 {
		again = fmt.Sprintf("try %d after %s: ", len(pods), lastWords(pods[:len(pods)-1]))
	}
	if pod.Spec.NodeName == "" {
		if why := unplaced(pod); why != "" {
			return Waiting, again + "for resources: " + why
		}
		return Waiting, again + "for the scheduler"
	}
	if reason, message := waitingFor(pod); reason != "" {
		return Waiting, again + strings.TrimSuffix(fmt.Sprintf("on %s: %s: %s", pod.Spec.NodeName, reason, message), ": ")
	}
	switch pod.Status.Phase {
	case corev1.PodRunning:
		return Running, again + "on " + pod.Spec.NodeName
	case corev1.PodFailed:
		return Waiting, "for what the Job does after " + lastWords(pods)
	case corev1.PodSucceeded:
		return Running, "done, and about to be counted"
	case corev1.PodPending, corev1.PodUnknown:
	}
	return Waiting, again + "on " + pod.Spec.NodeName + ": for its container"
}

// lastWords is how the newest pod ended, in one line.
func lastWords(pods []corev1.Pod) string {
	if len(pods) == 0 {
		return "no pod of it is left"
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

package fanout

import (
	"errors"
	"fmt"
	"slices"
)

// terminalWaitReasons are waiting reasons of containers that will not start.
var terminalWaitReasons = []string{"ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError"}

// terminalError returns why the run cannot succeed, so that it ends before its deadline. It
// is nil as soon as one shard has started: the problem of others may be their node's.
func (p *status) terminalError(seenJob bool) error {
	if p.job == nil {
		if seenJob {
			return errors.New("the Job was deleted")
		}
		return nil
	}
	if len(p.reports) > 0 || p.job.Status.Succeeded > 0 || p.job.Status.Failed > 0 {
		return nil
	}
	for i := range p.pods {
		if started(&p.pods[i]) {
			return nil
		}
	}
	if why := p.refused(); why != "" {
		return fmt.Errorf("the cluster rejects the Job's pods: %s", why)
	}
	for i := range p.pods {
		reason, message := waitReason(&p.pods[i])
		if slices.Contains(terminalWaitReasons, reason) {
			return fmt.Errorf("pod %s cannot start on node %s: %s: %s", p.pods[i].Name, p.pods[i].Spec.NodeName, reason, message)
		}
	}
	return nil
}

// refused is why no pod could be created in at least two attempts: the first may precede
// the cluster's caches.
func (p *status) refused() string {
	if len(p.pods) > 0 || p.job.Status.Active > 0 {
		return ""
	}
	times := 0
	for _, e := range p.refusals {
		times += int(max(1, e.Count))
	}
	if times < 2 {
		return ""
	}
	return p.refusals[len(p.refusals)-1].Message
}

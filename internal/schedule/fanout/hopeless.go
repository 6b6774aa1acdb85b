package fanout

import (
	"errors"
	"fmt"
	"slices"
)

// hopelessWaits are what kubelets say of a container that will not start by waiting.
var hopelessWaits = []string{"ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError"}

// hopeless explains why nothing can come of the run, so that it ends now and not at
// its deadline. As long as one shard runs, or has run, the others are waited for:
// what keeps them may be their node's.
func (p *picture) hopeless(seenJob bool) error {
	if p.job == nil {
		if seenJob {
			return errors.New("somebody deleted the Job")
		}
		return nil
	}
	if len(p.reports) > 0 || p.job.Status.Succeeded > 0 || p.job.Status.Failed > 0 {
		return nil
	}
	for i := range p.pods {
		if ran(&p.pods[i]) {
			return nil
		}
	}
	if why := p.refused(); why != "" {
		return fmt.Errorf("the cluster refuses the Job's pods: %s", why)
	}
	for i := range p.pods {
		reason, message := waitingFor(&p.pods[i])
		if slices.Contains(hopelessWaits, reason) {
			return fmt.Errorf("pod %s can't start on node %s: %s: %s", p.pods[i].Name, p.pods[i].Spec.NodeName, reason, message)
		}
	}
	return nil
}

// refused is why not one pod could be created, asked for more than once: the first
// time may be before the cluster knows of its own objects.
func (p *picture) refused() string {
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

package judge

import (
	"fmt"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
)

// whyClaim says at which step of its life a claim stands, and why. Nothing for
// one whose node is Ready and initialized.
func (l look) whyClaim(c snapshot.Claim) []check.Finding {
	name := "NodeClaim " + c.Name
	node, here := l.nodeOf(c)
	launched, isLaunched := snapshot.Is(c.Conditions, "Launched")
	registered, isRegistered := snapshot.Is(c.Conditions, "Registered")
	switch {
	case c.Gone() || !c.Deleting.IsZero():
		return []check.Finding{finding(name, fmt.Sprintf("%s was deleted before its node was in use%s", name, because(l.claimWord(c))), "see Karpenter's log and events: a launch that failed, or no registration in 15 minutes")}
	case !isLaunched:
		return []check.Finding{finding(name, fmt.Sprintf("%s is not launched: %s%s", name, condition(launched), because(l.claimWord(c))), "see the provider's capacity, quotas and the node class")}
	case !isRegistered || !here:
		return []check.Finding{finding(name, fmt.Sprintf("%s was launched as %s and its node has not registered: %s", name, orElse(c.InstanceType, "an instance"), condition(registered)),
			"see the instance's boot and kubelet: its network, bootstrap token, image; "+l.interval(snapshot.SettingRegistration))}
	}
	if out := nodeNotReady(node); out != nil {
		return out
	}
	if initialized, ok := snapshot.Is(c.Conditions, "Initialized"); !ok {
		return []check.Finding{finding(suspect(node.Ref), fmt.Sprintf("%s is Ready and not initialized: %s", suspect(node.Ref), condition(initialized)), "see what it waits for: startup taints to be removed, GPUs to be offered by the device plugin")}
	}
	return nil
}

func nodeNotReady(n snapshot.Node) []check.Finding {
	c, ok := snapshot.Is(n.Conditions, "Ready")
	if ok {
		return nil
	}
	return []check.Finding{finding(suspect(n.Ref), fmt.Sprintf("%s is registered and not Ready: %s", suspect(n.Ref), condition(c)), "see the node's kubelet and its network plugin")}
}

func condition(c snapshot.Condition) string {
	switch {
	case c.Status == "":
		return "no condition " + c.Type
	case c.Message == "" || c.Message == c.Reason:
		return c.Type + " " + c.Status + " (" + c.Reason + ")"
	default:
		return c.Type + " " + c.Status + " (" + c.Reason + "): " + c.Message
	}
}

// claimWord is the newest warning about a claim.
func (l look) claimWord(c snapshot.Claim) string {
	list := l.about(c.UID, "InsufficientCapacityError", "NodeClassNotReady", "UnregisteredTaintMissing", "FailedConsistencyCheck")
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1].Message
}

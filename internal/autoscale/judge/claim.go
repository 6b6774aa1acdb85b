package judge

import (
	"cmp"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
)

// claimProblems reports the step at which a claim is stuck. It is empty for a claim whose
// node is Ready and initialized.
func (l lookup) claimProblems(c snapshot.Claim) []check.Finding {
	name := "NodeClaim " + c.Name
	node, here := l.nodeOf(c)
	launched, isLaunched := snapshot.Is(c.Conditions, "Launched")
	registered, isRegistered := snapshot.Is(c.Conditions, "Registered")
	switch {
	case c.Gone() || !c.Deleting.IsZero():
		return []check.Finding{finding(name,
			"see Karpenter's log and events: a launch that failed, or no registration in 15 minutes",
			"%s was deleted before its node was in use%s", name, because(l.claimEvent(c)))}
	case !isLaunched:
		return []check.Finding{finding(name,
			"see the provider's capacity, quotas and the node class",
			"%s is not launched: %s%s", name, condition(launched), because(l.claimEvent(c)))}
	case !isRegistered || !here:
		return []check.Finding{finding(name,
			"see the instance's boot and kubelet: its network, bootstrap token, image; "+l.interval(snapshot.SettingRegistration),
			"%s was launched as %s, but its node has not registered: %s", name, cmp.Or(c.InstanceType, "an instance"), condition(registered))}
	}
	if out := nodeNotReady(node); out != nil {
		return out
	}
	if initialized, ok := snapshot.Is(c.Conditions, "Initialized"); !ok {
		return []check.Finding{finding(suspect(node.Ref),
			"check for startup taints that were not removed, and that the device plugin advertises the GPUs",
			"%s is Ready but not initialized: %s", suspect(node.Ref), condition(initialized))}
	}
	return nil
}

func nodeNotReady(n snapshot.Node) []check.Finding {
	c, ok := snapshot.Is(n.Conditions, "Ready")
	if ok {
		return nil
	}
	return []check.Finding{finding(suspect(n.Ref),
		"see the node's kubelet and its network plugin",
		"%s is registered but not Ready: %s", suspect(n.Ref), condition(c))}
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

// claimEvent is the message of the newest warning about a claim.
func (l lookup) claimEvent(c snapshot.Claim) string {
	list := l.about(c.UID, "InsufficientCapacityError", "NodeClassNotReady", "UnregisteredTaintMissing", "FailedConsistencyCheck")
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1].Message
}

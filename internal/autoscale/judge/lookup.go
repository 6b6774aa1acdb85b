package judge

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
)

// lookup queries one Setup and one State. No method returns an object without a UID.
type lookup struct {
	setup snapshot.Setup
	st    snapshot.State
	// needs are the sources that the hop is judged by: all must be readable.
	needs []string
}

const karpenter = "karpenter"

// karpenter reports whether nodes come from NodePools.
func (l lookup) karpenter() bool { return l.setup.Pool.Autoscaler == karpenter }

// autoscaler is the autoscaler's name in findings.
func (l lookup) autoscaler() string {
	if l.karpenter() {
		return "Karpenter"
	}
	return l.setup.Pool.Autoscaler
}

// role lists the run's pods of a role, including deleted ones.
func (l lookup) role(role string) []snapshot.Pod {
	return only(l.st.Pods, func(p snapshot.Pod) bool { return p.Role == role && p.UID != "" })
}

// since lists the pods of a role first observed after a mark; none without the mark.
func (l lookup) since(role, mark string) []snapshot.Pod {
	from, ok := l.st.Marks[mark]
	if !ok {
		return nil
	}
	return only(l.role(role), func(p snapshot.Pod) bool { return p.First.After(from) })
}

// added lists the replicas created under load, initial those from before.
func (l lookup) added() []snapshot.Pod { return l.since(snapshot.RoleWorker, snapshot.MarkLoad) }

func (l lookup) initial() []snapshot.Pod {
	from, ok := l.st.Marks[snapshot.MarkLoad]
	return only(l.role(snapshot.RoleWorker), func(p snapshot.Pod) bool { return !ok || !p.First.After(from) })
}

// active lists pods that are neither deleted, being deleted nor finished.
func active(pods []snapshot.Pod) []snapshot.Pod {
	return only(pods, func(p snapshot.Pod) bool {
		return !p.Gone() && p.Deleting.IsZero() && p.Phase != "Failed" && p.Phase != "Succeeded"
	})
}

// running reports whether a pod is bound and ready.
func running(p snapshot.Pod) bool { return p.Node != "" && !p.ReadyAt.IsZero() }

// nominations lists the claims that Karpenter nominated for p.
func (l lookup) nominations(p snapshot.Pod) []string {
	var out []string
	for _, e := range l.about(p.UID, "Nominated") {
		for part := range strings.FieldsFuncSeq(e.Message, func(r rune) bool { return r == ' ' || r == ',' }) {
			if name, ok := strings.CutPrefix(part, "nodeclaim/"); ok {
				out = append(out, name)
			}
		}
	}
	return out
}

// claimsFor lists the claims made because of p: nominated for it and not older. API
// timestamps have whole seconds.
func (l lookup) claimsFor(p snapshot.Pod) []snapshot.Claim {
	nominated := l.nominations(p)
	return only(l.st.Claims, func(c snapshot.Claim) bool {
		return c.UID != "" && slices.Contains(nominated, c.Name) && !c.Created.Before(p.Created)
	})
}

// claimsOf lists the claims made because of any of the pods, each once. If pods were nominated for fewer
// claims than there are pods, without those that were never in use, it adds as many of the run's later
// claims without a nomination: Karpenter reports a pod's nomination once in two minutes (pkg/events/recorder.go
// defaultDedupeTimeout). It plans a pending pod again together with the next one, so both may have the
// event of the first claim; and after the provider had no capacity it deletes the claim and makes
// another for the same pod (pkg/controllers/nodeclaim/lifecycle/launch.go).
func (l lookup) claimsOf(pods []snapshot.Pod) []snapshot.Claim {
	nominated, used, all := map[string]bool{}, map[string]bool{}, true
	for _, p := range pods {
		claims := l.claimsFor(p)
		for _, c := range claims {
			nominated[c.UID] = true
			if !neverUsed(c) {
				used[c.UID] = true
			}
		}
		all = all && len(claims) > 0
	}
	if all {
		for _, c := range l.unnamed(pods, len(pods)-len(used)) {
			nominated[c.UID] = true
		}
	}
	return only(l.st.Claims, func(c snapshot.Claim) bool { return nominated[c.UID] })
}

// unnamed lists at most n claims of the run without a nomination, not older than the pods, those first on
// whose nodes the pods ran.
func (l lookup) unnamed(pods []snapshot.Pod, n int) []snapshot.Claim {
	from := earliest(pods, func(p snapshot.Pod) time.Time { return p.Created })
	list := only(l.st.Claims, func(c snapshot.Claim) bool {
		return c.UID != "" && c.Ours && !c.Created.Before(from) && !l.claimed(c) && !neverUsed(c) && !l.forOtherWorkloads(c)
	})
	slices.SortStableFunc(list, func(a, b snapshot.Claim) int {
		rank := func(c snapshot.Claim) int {
			if node, ok := l.nodeOf(c); ok && usedBy(node, pods) {
				return 0
			}
			return 1
		}
		return cmp.Compare(rank(a), rank(b))
	})
	return list[:min(max(n, 0), len(list))]
}

// neverUsed reports a claim that was deleted before its node had registered.
func neverUsed(c snapshot.Claim) bool {
	_, registered := snapshot.Is(c.Conditions, "Registered")
	return !registered && (c.Gone() || !c.Deleting.IsZero())
}

// activeClaims lists the claims of the pods that are neither deleted nor being deleted.
func (l lookup) activeClaims(pods []snapshot.Pod) []snapshot.Claim {
	return only(l.claimsOf(pods), func(c snapshot.Claim) bool { return !c.Gone() && c.Deleting.IsZero() })
}

// nodeOf returns the node of a claim, matched by provider ID or name.
func (l lookup) nodeOf(c snapshot.Claim) (snapshot.Node, bool) {
	for _, n := range slices.Backward(l.st.Nodes) {
		same := c.ProviderID != "" && c.ProviderID == n.ProviderID
		named := c.Node == n.Name && (c.ProviderID == "" || n.ProviderID == "")
		if n.UID != "" && (same || named) {
			return n, true
		}
	}
	return snapshot.Node{}, false
}

// nodesOf lists the nodes added for the pods: those of their claims or, with node groups,
// those of the group that were added after the first of the pods.
func (l lookup) nodesOf(pods []snapshot.Pod) []snapshot.Node {
	var out []snapshot.Node
	if l.karpenter() {
		for _, c := range l.claimsOf(pods) {
			if n, ok := l.nodeOf(c); ok {
				out = append(out, n)
			}
		}
		return out
	}
	from := earliest(pods, func(p snapshot.Pod) time.Time { return p.First })
	return only(l.st.Nodes, func(n snapshot.Node) bool {
		return n.UID != "" && n.Ours && !from.IsZero() && n.First.After(from)
	})
}

// about lists the events about an object with one of the reasons.
func (l lookup) about(uid string, reasons ...string) []snapshot.Event {
	return only(l.st.Events, func(e snapshot.Event) bool {
		return uid != "" && e.About.UID == uid && slices.Contains(reasons, e.Reason)
	})
}

// pool returns a NodePool of the run by name.
func (l lookup) pool(name string) (snapshot.Pool, bool) {
	i := slices.IndexFunc(l.st.Pools, func(p snapshot.Pool) bool { return p.Name == name && name != "" })
	if i < 0 {
		return snapshot.Pool{}, false
	}
	return l.st.Pools[i], true
}

// program returns a program by role.
func (l lookup) program(role string) (snapshot.Program, bool) {
	i := slices.IndexFunc(l.st.Programs, func(p snapshot.Program) bool { return p.Role == role })
	if i < 0 {
		return snapshot.Program{}, false
	}
	return l.st.Programs[i], true
}

// desired is the newest HPA status since a mark.
func (l lookup) desired(mark string) (snapshot.Desired, bool) {
	list := l.desiredSince(mark)
	if len(list) == 0 {
		return snapshot.Desired{}, false
	}
	return list[len(list)-1], true
}

func (l lookup) desiredSince(mark string) []snapshot.Desired {
	from, ok := l.st.Marks[mark]
	return only(l.st.Desired, func(d snapshot.Desired) bool { return ok && d.At.After(from) })
}

// minReplicas is the number of replicas without load.
func (l lookup) minReplicas() int { return max(1, l.setup.Scale.Min) }

// hpaRef names the HPA, even if it was not observed.
func (l lookup) hpaRef() snapshot.Ref {
	if l.st.HPA != nil {
		return l.st.HPA.Ref
	}
	return snapshot.Ref{Kind: "HorizontalPodAutoscaler", Namespace: l.setup.Namespace}
}

// metricRef names the metric at the metrics API.
func (l lookup) metricRef() snapshot.Ref {
	return snapshot.Ref{Kind: l.setup.Metric.API + " metric", Name: l.setup.Metric.Name}
}

// otherActivity mentions claims and nodes of other workloads. They change no verdict.
func (l lookup) otherActivity() string {
	claims := only(l.st.Claims, func(c snapshot.Claim) bool { return !c.Ours })
	nodes := only(l.st.Nodes, func(n snapshot.Node) bool { return !n.Ours })
	if len(claims)+len(nodes) == 0 {
		return ""
	}
	return " (" + count(len(claims), "claim") + " and " + count(len(nodes), "node") + " of other workloads ignored)"
}

// firstOf returns the first item, or the zero value.
func firstOf[T any](list []T) T {
	var none T
	if len(list) == 0 {
		return none
	}
	return list[0]
}

func only[T any](list []T, keep func(T) bool) []T {
	var out []T
	for _, item := range list {
		if keep(item) {
			out = append(out, item)
		}
	}
	return out
}

// latest and earliest ignore zero times.
func latest[T any](list []T, at func(T) time.Time) time.Time {
	var out time.Time
	for _, item := range list {
		if t := at(item); t.After(out) {
			out = t
		}
	}
	return out
}

func earliest[T any](list []T, at func(T) time.Time) time.Time {
	var out time.Time
	for _, item := range list {
		if t := at(item); !t.IsZero() && (out.IsZero() || t.Before(out)) {
			out = t
		}
	}
	return out
}

// lastOf returns the item with the latest time.
func lastOf[T any](list []T, at func(T) time.Time) T {
	var out T
	for i, item := range list {
		if i == 0 || at(item).After(at(out)) {
			out = item
		}
	}
	return out
}

// since is the time at which a condition was first observed, else its transition time.
func transitionTime(c snapshot.Condition) time.Time {
	if !c.Seen.IsZero() {
		return c.Seen
	}
	return c.At
}

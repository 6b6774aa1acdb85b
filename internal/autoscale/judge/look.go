package judge

import (
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
)

// look is what a judge looks at, with questions to it. None of them returns an
// object without a UID.
type look struct {
	setup snapshot.Setup
	st    snapshot.State
}

const karpenter = "karpenter"

// karpenter says whether nodes come from NodePools.
func (l look) karpenter() bool { return l.setup.Pool.Autoscaler == karpenter }

// autoscaler is what the autoscaler is called in findings.
func (l look) autoscaler() string {
	if l.karpenter() {
		return "Karpenter"
	}
	return l.setup.Pool.Autoscaler
}

// role are the run's pods of a role, also those that are gone.
func (l look) role(role string) []snapshot.Pod {
	return only(l.st.Pods, func(p snapshot.Pod) bool { return p.Role == role && p.UID != "" })
}

// since are the pods of a role that came after a mark; none without the mark.
func (l look) since(role, mark string) []snapshot.Pod {
	from, ok := l.st.Marks[mark]
	if !ok {
		return nil
	}
	return only(l.role(role), func(p snapshot.Pod) bool { return p.First.After(from) })
}

// added are the replicas that the load brought; kept those that were there.
func (l look) added() []snapshot.Pod { return l.since(snapshot.RoleWorker, snapshot.MarkLoad) }

func (l look) kept() []snapshot.Pod {
	from, ok := l.st.Marks[snapshot.MarkLoad]
	return only(l.role(snapshot.RoleWorker), func(p snapshot.Pod) bool { return !ok || !p.First.After(from) })
}

// alive are pods that are not gone, going or over.
func alive(pods []snapshot.Pod) []snapshot.Pod {
	return only(pods, func(p snapshot.Pod) bool {
		return !p.Gone() && p.Deleting.IsZero() && p.Phase != "Failed" && p.Phase != "Succeeded"
	})
}

// runs says that a pod is bound and ready.
func runs(p snapshot.Pod) bool { return p.Node != "" && !p.ReadyAt.IsZero() }

// nominations are the names of the claims that Karpenter says it made for p, or
// means p to use.
func (l look) nominations(p snapshot.Pod) []string {
	var out []string
	for _, e := range l.about(p.UID, "Nominated") {
		for part := range strings.FieldsFuncSeq(e.Message, func(r rune) bool { return r == ' ' || r == ',' }) {
			if name, ok := strings.CutPrefix(part, "nodeclaim/"); ok && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// claimsFor are the claims that were made because of p: Karpenter says so, and
// they are not older than it. The API's clock has whole seconds.
func (l look) claimsFor(p snapshot.Pod) []snapshot.Claim {
	nominated := l.nominations(p)
	return only(l.st.Claims, func(c snapshot.Claim) bool {
		return c.UID != "" && slices.Contains(nominated, c.Name) && !c.Created.Before(p.Created)
	})
}

// claimsOf are the claims made because of any of the pods, each once.
func (l look) claimsOf(pods []snapshot.Pod) []snapshot.Claim {
	had := map[string]bool{}
	var out []snapshot.Claim
	for _, p := range pods {
		for _, c := range l.claimsFor(p) {
			if !had[c.UID] {
				had[c.UID] = true
				out = append(out, c)
			}
		}
	}
	return out
}

// standing are the claims of the pods that are not gone or going.
func (l look) standing(pods []snapshot.Pod) []snapshot.Claim {
	return only(l.claimsOf(pods), func(c snapshot.Claim) bool { return !c.Gone() && c.Deleting.IsZero() })
}

// nodeOf is the node of a claim, by the instance that both name.
func (l look) nodeOf(c snapshot.Claim) (snapshot.Node, bool) {
	for _, n := range slices.Backward(l.st.Nodes) {
		same := c.ProviderID != "" && c.ProviderID == n.ProviderID
		named := c.Node != "" && c.Node == n.Name && (c.ProviderID == "" || n.ProviderID == "")
		if n.UID != "" && (same || named) {
			return n, true
		}
	}
	return snapshot.Node{}, false
}

// nodesOf are the nodes that came because of the pods: those of their claims;
// with node groups, those of the group that came after the first of the pods.
func (l look) nodesOf(pods []snapshot.Pod) []snapshot.Node {
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

// about are the events about an object with one of the reasons.
func (l look) about(uid string, reasons ...string) []snapshot.Event {
	return only(l.st.Events, func(e snapshot.Event) bool {
		return uid != "" && e.About.UID == uid && slices.Contains(reasons, e.Reason)
	})
}

// pool finds a NodePool of the run.
func (l look) pool(name string) (snapshot.Pool, bool) {
	i := slices.IndexFunc(l.st.Pools, func(p snapshot.Pool) bool { return p.Name == name && name != "" })
	if i < 0 {
		return snapshot.Pool{}, false
	}
	return l.st.Pools[i], true
}

// program finds a program by its role.
func (l look) program(role string) (snapshot.Program, bool) {
	i := slices.IndexFunc(l.st.Programs, func(p snapshot.Program) bool { return p.Role == role })
	if i < 0 {
		return snapshot.Program{}, false
	}
	return l.st.Programs[i], true
}

// desired is the HPA's newest word since a mark.
func (l look) desired(mark string) (snapshot.Desired, bool) {
	list := l.desiredSince(mark)
	if len(list) == 0 {
		return snapshot.Desired{}, false
	}
	return list[len(list)-1], true
}

func (l look) desiredSince(mark string) []snapshot.Desired {
	from, ok := l.st.Marks[mark]
	return only(l.st.Desired, func(d snapshot.Desired) bool { return ok && d.At.After(from) })
}

// least is the number of replicas that there are without load.
func (l look) least() int { return max(1, l.setup.Scale.Min) }

// hpaRef names the HPA, also where it was not seen.
func (l look) hpaRef() snapshot.Ref {
	if l.st.HPA != nil {
		return l.st.HPA.Ref
	}
	return snapshot.Ref{Kind: "HorizontalPodAutoscaler", Namespace: l.setup.Namespace}
}

// metricRef names the metric at its API.
func (l look) metricRef() snapshot.Ref {
	return snapshot.Ref{Kind: l.setup.Metric.API + " metric", Name: l.setup.Metric.Name}
}

// other says what came for others meanwhile: it is told and changes nothing.
func (l look) other() string {
	claims := only(l.st.Claims, func(c snapshot.Claim) bool { return !c.Ours })
	nodes := only(l.st.Nodes, func(n snapshot.Node) bool { return !n.Ours })
	if len(claims)+len(nodes) == 0 {
		return ""
	}
	return " (others got " + count(len(claims), "claim") + " and " + count(len(nodes), "node") + " meanwhile: not counted)"
}

// head is the first item, or none.
func head[T any](list []T) T {
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

// latest and earliest ignore times that are not set.
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

// lastOf is the item with the latest time.
func lastOf[T any](list []T, at func(T) time.Time) T {
	var out T
	for i, item := range list {
		if i == 0 || at(item).After(at(out)) {
			out = item
		}
	}
	return out
}

// held is when a condition was seen to hold: our own clock before the API's.
func held(c snapshot.Condition) time.Time {
	if !c.Seen.IsZero() {
		return c.Seen
	}
	return c.At
}

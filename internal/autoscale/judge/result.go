package judge

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/firstlight/firstlight/internal/autoscale/snapshot"
	"github.com/firstlight/firstlight/internal/check"
)

func notApplicable(why string) Result {
	return Result{Judgement: check.Judgement{Verdict: check.NotApplicable, Reason: why}}
}

// pass is the result of a condition that became true at the given time. The zero time
// and times before the run become the time of the state. With an input that cannot be read
// now, the condition may no longer be true: unobserved.
func (l lookup) pass(at time.Time, object snapshot.Ref, format string, args ...any) Result {
	if unreadable := l.unreadable(); len(unreadable) > 0 {
		return l.unobserved(object, unreadable...)
	}
	if at.IsZero() || at.Before(l.setup.Began) {
		at = l.st.At
	}
	return Result{Judgement: check.Pass(fmt.Sprintf(format, args...)), At: at, Object: object}
}

// fail is a final failure, whatever else could not be read.
func (l lookup) fail(object snapshot.Ref, findings ...check.Finding) Result {
	return Result{Judgement: check.Fail(check.Summary(findings), findings...), Object: object, Final: true}
}

// wait is the result of a condition that is not true yet: unobserved where an input
// could not be read, else failed with its likely reasons, likeliest first.
func (l lookup) wait(object snapshot.Ref, findings []check.Finding, otherwise check.Finding) Result {
	if unreadable := l.unreadable(); len(unreadable) > 0 {
		return l.unobserved(object, unreadable...)
	}
	if len(findings) == 0 && otherwise.Message == "" {
		otherwise = finding("chain", "read the hop's observation in the evidence", "the condition is not met and the reason is unknown")
	}
	if len(findings) == 0 {
		findings = []check.Finding{otherwise}
	}
	return Result{Judgement: check.Fail(check.Summary(findings), findings...), Object: object}
}

// unobserved is the result where the state proves neither success nor failure: for inputs that
// could not be read, else for the given reasons.
func (l lookup) unobserved(object snapshot.Ref, findings ...check.Finding) Result {
	if unreadable := l.unreadable(); len(unreadable) > 0 {
		findings = unreadable
	}
	return Result{Judgement: check.NotObserved(check.Summary(findings), findings...), Object: object}
}

// finalUnobserved is unobserved, and waiting does not help.
func (l lookup) finalUnobserved(object snapshot.Ref, findings ...check.Finding) Result {
	r := l.unobserved(object, findings...)
	r.Final = true
	return r
}

// unreadable reports an action of the chain that failed, and the needed inputs that cannot be
// read or that were never read.
func (l lookup) unreadable() []check.Finding {
	var out []check.Finding
	if l.st.ActionError != "" {
		out = append(out, finding("chain", "correct the cause, or grant the permission to this kubeconfig, then run again", "the chain cannot continue: %s", l.st.ActionError))
	}
	known := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(l.st.Problems)) {
		what, _, _ := strings.Cut(name, "/")
		if slices.Contains(l.needs, what) {
			known[what] = true
			out = append(out, check.Finding{
				Suspect: name, Message: name + " could not be read: " + l.st.Problems[name],
				Remedy: "grant access to this kubeconfig (firstlight plan --rbac prints the permissions), then run again",
			})
		}
	}
	for _, name := range l.needs {
		if !known[name] && !slices.Contains(l.st.Sources, name) {
			out = append(out, finding(name, "see whether the API server is overloaded, then run again", "%s: no complete list was read", name))
		}
	}
	return out
}

func finding(suspect, remedy, format string, args ...any) check.Finding {
	return check.NewFinding("", suspect, remedy, format, args...)
}

// suspect formats an object for findings: "pod ns/name", "NodePool name".
func suspect(r snapshot.Ref) string {
	if r.Name == "" {
		return strings.TrimSpace(r.Kind + " " + r.Namespace)
	}
	if r.Kind == "Pod" || r.Kind == "Node" {
		r.Kind = strings.ToLower(r.Kind)
	}
	return r.String()
}

// names joins the names of objects.
func names[T any](items []T, ref func(T) snapshot.Ref) string {
	if len(items) == 0 {
		return "none"
	}
	out := make([]string, 0, len(items))
	for _, item := range items {
		out = append(out, ref(item).Name)
	}
	return strings.Join(out, ", ")
}

func podRef(p snapshot.Pod) snapshot.Ref     { return p.Ref }
func nodeRef(n snapshot.Node) snapshot.Ref   { return n.Ref }
func claimRef(c snapshot.Claim) snapshot.Ref { return c.Ref }

// count formats a number with its noun: "1 pod", "2 pods".
func count(n int, noun string) string {
	if n == 1 || strings.HasSuffix(noun, "s") { // singular and plural of series are equal
		return fmt.Sprintf("%d %s", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// listOrNone joins a list; "none" for an empty one.
func listOrNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

func join(list []string) string { return strings.Join(list, ", ") }

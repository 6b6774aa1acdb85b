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

// pass: it happened, then and to that object. Without a time, or where it was so
// before the run began, it is when it was seen to hold.
func (l look) pass(at time.Time, object snapshot.Ref, format string, args ...any) Result {
	if at.IsZero() || at.Before(l.setup.Began) {
		at = l.st.At
	}
	return Result{Judgement: check.Pass(fmt.Sprintf(format, args...)), At: at, Object: object}
}

// broken: something was seen that must not be, whatever else was not seen.
func (l look) broken(object snapshot.Ref, findings ...check.Finding) Result {
	return Result{Judgement: check.Fail(summary(findings), findings...), Object: object, Final: true}
}

// wait: it has not happened. That is a failure with its likely reasons, the
// likeliest first; but where one of what it needs could not be looked at, it is
// unobserved.
func (l look) wait(object snapshot.Ref, needs []string, findings []check.Finding, otherwise check.Finding) Result {
	if unseen := l.unseen(needs); len(unseen) > 0 {
		return Result{Judgement: check.CouldNotObserve(summary(unseen), unseen...), Object: object}
	}
	if len(findings) == 0 && otherwise.Message == "" {
		otherwise = finding("chain", "it has not happened, and nothing is seen that says why", "read the hop's observation in the evidence")
	}
	if len(findings) == 0 {
		findings = []check.Finding{otherwise}
	}
	return Result{Judgement: check.Fail(summary(findings), findings...), Object: object}
}

// unknown: what there is says neither yes nor no.
func (l look) unknown(object snapshot.Ref, f check.Finding) Result {
	return Result{Judgement: check.CouldNotObserve(summary([]check.Finding{f}), f), Object: object}
}

// unseen are the problems with what is needed.
func (l look) unseen(needs []string) []check.Finding {
	var out []check.Finding
	for _, name := range slices.Sorted(maps.Keys(l.st.Problems)) {
		what, _, _ := strings.Cut(name, "/")
		if slices.Contains(needs, what) {
			out = append(out, check.Finding{
				Suspect: name, Message: name + " could not be looked at: " + l.st.Problems[name],
				Remedy: "make it reachable for this kubeconfig (firstlight plan --rbac prints the permissions), then run again",
			})
		}
	}
	return out
}

// summary names the first finding and counts the rest.
func summary(findings []check.Finding) string {
	if len(findings) == 0 {
		return "no reason is known"
	}
	text := findings[0].Message
	if !strings.Contains(text, findings[0].Suspect) {
		text = findings[0].Suspect + ": " + text
	}
	if more := len(findings) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return text
}

func finding(suspect, message, remedy string) check.Finding {
	return check.Finding{Suspect: suspect, Message: message, Remedy: remedy}
}

// suspect is how findings name an object: "pod ns/name", "NodePool name".
func suspect(r snapshot.Ref) string {
	if r.Name == "" {
		return strings.TrimSpace(r.Kind + " " + r.Namespace)
	}
	if r.Kind == "Pod" || r.Kind == "Node" {
		r.Kind = strings.ToLower(r.Kind)
	}
	return r.String()
}

// names lists objects by name.
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

// count writes a number with its noun: "1 pod", "2 pods".
func count(n int, noun string) string {
	if n == 1 || strings.HasSuffix(noun, "s") { // a series, many series
		return fmt.Sprintf("%d %s", n, noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// some writes a list, and "none" for an empty one.
func some(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

// seconds writes a span for people.
func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

func join(list []string) string { return strings.Join(list, ", ") }

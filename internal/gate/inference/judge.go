package inference

import (
	"fmt"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

const (
	remedyRun = "see that GPUs are free and the image can be pulled; then run it again with --from inference"
	remedyLog = "read the server's log in the evidence"
)

// Judge implements check.Check.
func (g *Gate) Judge(obs []check.Observation) check.Judgement {
	r := &review{gate: g}
	if server, ok := need[ServerFigures](r, obs, KindServer, "how the server came up"); ok {
		if !server.figures.Healthy {
			return r.down(server)
		}
		r.figures = append(r.figures, check.Figure{Name: "time until healthy", Value: server.figures.WaitedSeconds, Unit: "s"})
	} else {
		r.unseen[0].Message += errorOf(obs)
		return r.conclude() // nothing else can have been seen
	}
	if models, ok := need[ModelsFigures](r, obs, KindModels, "which models it serves"); ok {
		r.models(models)
	}
	if answer, ok := need[CompletionFigures](r, obs, KindCompletion, "a greedy completion"); ok {
		r.completion(answer)
	}
	if load, ok := need[LoadFigures](r, obs, KindLoad, "the load"); ok {
		r.load(load)
	}
	if end, ok := need[ServerFigures](r, obs, KindEnd, "how the server stood after the load"); ok {
		r.after(end)
	}
	return r.conclude()
}

// after demands that the server is as it was before the load.
func (r *review) after(end seen[ServerFigures]) {
	f := end.figures
	suspect := "pod " + f.Pod + " on " + f.Node
	if f.Restarts > 0 {
		r.fail(suspect, remedyLog, end.id, "the server restarted %d times%s", f.Restarts, last(f.Log.Errors))
	}
	if !f.Healthy {
		r.fail(suspect, remedyLog, end.id, "the server was not healthy after the load%s", last(f.Log.Errors))
	}
}

// seen is one decoded observation.
type seen[T any] struct {
	id      string
	figures T
}

// need decodes the observation of a kind; one that is missing or says nothing
// leaves the criterion unobserved.
func need[T any](r *review, obs []check.Observation, kind, what string) (seen[T], bool) {
	all := check.OfKind(obs, kind)
	if len(all) == 0 {
		r.blind("job "+jobName, remedyRun, "", "%s was not observed", what)
		return seen[T]{}, false
	}
	o := all[len(all)-1]
	f, err := check.Decode[T](o)
	if err == nil {
		return seen[T]{id: o.ID, figures: f}, true
	}
	if kind == KindModels || kind == KindCompletion {
		// the server answered /health and then not this
		r.fail("server of job "+jobName, remedyLog, o.ID, "%s: the request failed: %s", what, o.Err)
		return seen[T]{}, false
	}
	r.blind("job "+jobName, remedyRun, o.ID, "%s could not be seen: %v", what, err)
	return seen[T]{}, false
}

type review struct {
	gate    *Gate
	failed  []check.Finding
	unseen  []check.Finding
	figures []check.Figure
	reason  string
}

func (r *review) conclude() check.Judgement {
	var j check.Judgement
	switch {
	case len(r.failed) > 0:
		j = check.Fail(r.failed[0].Message, r.failed...)
	case len(r.unseen) > 0:
		j = check.CouldNotObserve(r.unseen[0].Message, r.unseen...)
	case r.reason == "":
		j = check.CouldNotObserve("nothing was measured")
	default:
		j = check.Pass(r.reason)
	}
	j.Figures = r.figures
	return j
}

func (r *review) fail(suspect, remedy, id, format string, args ...any) {
	r.failed = append(r.failed, finding(suspect, remedy, id, fmt.Sprintf(format, args...)))
}

func (r *review) blind(suspect, remedy, id, format string, args ...any) {
	r.unseen = append(r.unseen, finding(suspect, remedy, id, fmt.Sprintf(format, args...)))
}

func finding(suspect, remedy, id, message string) check.Finding {
	f := check.Finding{Suspect: suspect, Message: message, Remedy: remedy}
	if id != "" {
		f.Observations = []string{id}
	}
	return f
}

func last(errs []string) string {
	if len(errs) == 0 {
		return ""
	}
	return ": " + strings.TrimSpace(errs[len(errs)-1])
}

// errorOf is why observing ended, where the engine recorded it.
func errorOf(obs []check.Observation) string {
	for _, o := range obs {
		if o.Kind == "error" && o.Err != "" {
			return ": " + o.Err
		}
	}
	return ""
}

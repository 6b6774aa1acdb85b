package inference

import (
	"strings"

	"github.com/firstlight/firstlight/internal/check"
)

const (
	remedyRun = "check that GPUs are free and that the image can be pulled; then run it again with --from inference"
	remedyLog = "read the server's log in the evidence"
)

// Judge implements check.Check.
func (g *Gate) Judge(obs []check.Observation) check.Judgement {
	r := &review{gate: g}
	r.server(obs)
	r.OmitUnobservedIfFailed()
	return r.Judgement(r.passed)
}

func (r *review) server(obs []check.Observation) {
	server, o, ok := check.RequireLast[ServerFigures](&r.Builder, obs, KindServer, "", "job "+jobName, remedyRun)
	if !ok {
		return // without a server there are no other observations
	}
	if !server.Healthy {
		r.down(o.ID, server)
		return
	}
	r.Figure(check.Figure{Name: "time until healthy", Value: server.WaitedSeconds, Unit: "s"})
	if models, o, ok := answer[ModelsFigures](r, obs, KindModels, "/v1/models"); ok {
		r.models(o.ID, models)
	}
	if completion, o, ok := answer[CompletionFigures](r, obs, KindCompletion, "the greedy completion"); ok {
		r.completion(o.ID, completion)
	}
	if load, o, ok := check.RequireLast[LoadFigures](&r.Builder, obs, KindLoad, "", "load of job "+jobName, remedyRun); ok {
		r.load(o.ID, load)
	}
	if end, o, ok := check.RequireLast[ServerFigures](&r.Builder, obs, KindEnd, "", "server of job "+jobName+" after the load", remedyRun); ok {
		r.after(o.ID, end)
	}
}

// review judges one server.
type review struct {
	check.Builder
	gate *Gate
	// passed is the reason of a pass.
	passed string
}

// answer decodes the last observation of a request. A healthy server that does not answer
// the request fails.
func answer[T any](r *review, obs []check.Observation, kind, request string) (v T, o check.Observation, ok bool) {
	if all := check.OfKind(obs, kind); len(all) > 0 && all[len(all)-1].Err != "" {
		o = all[len(all)-1]
		r.Fail(o.ID, "server of job "+jobName, remedyLog, "%s: the request failed: %s", request, o.Err)
		return v, o, false
	}
	return check.RequireLast[T](&r.Builder, obs, kind, "", "server of job "+jobName, remedyRun)
}

// after demands that the server did not restart or become unhealthy during the load.
func (r *review) after(id string, f ServerFigures) {
	suspect := "pod " + f.Pod + " on " + f.Node
	if f.Restarts > 0 {
		r.Fail(id, suspect, remedyLog, "the server restarted %d times%s", f.Restarts, lastError(f.Log.Errors))
	}
	if !f.Healthy {
		r.Fail(id, suspect, remedyLog, "the server was not healthy after the load%s", lastError(f.Log.Errors))
	}
}

// lastError is the last error line, as the end of a sentence.
func lastError(errs []string) string {
	if len(errs) == 0 {
		return ""
	}
	return ": " + strings.TrimSpace(errs[len(errs)-1])
}

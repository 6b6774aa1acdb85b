package inference

import (
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/gangjob"
)

const (
	remedyRun  = "check that GPUs are free and that the image can be pulled; then run it again with --from inference"
	remedyJob  = "read the reason in squeue --me and scontrol show job: the partition, account, QOS and slurm.reservation of the site must give the job a node, and nothing may preempt or suspend it; then run it again with --from inference"
	remedyPort = "end the program that listens there (ss -ltnp on the node), or choose another port (site slurm.serverPort)"
	remedyLost = "find out what ended it (the jump host, the network, sshd of the node); then run the gate again"
	remedyLog  = "read the server's log in the evidence"
	// remedyTime: a slow image pull or start takes the time of the requests.
	remedyTime = "read the server's log in the evidence; if the server makes progress, allow more time (site workloads.inference.timeout), then run the gate again"
)

// Judge implements check.Check.
func (g *Gate) Judge(obs []check.Observation) check.Judgement {
	r := &review{gate: g}
	r.server(obs)
	r.OmitUnobservedIfFailed()
	return r.Judgement(r.passed)
}

func (r *review) server(obs []check.Observation) {
	server, o, ok := check.RequireLast[ServerFigures](&r.Builder, obs, KindServer, "", "job "+jobName, r.gate.remedyRun())
	if !ok {
		return // without a server there are no other observations
	}
	r.node = server.Node
	if !server.Healthy {
		r.down(o.ID, server)
		return
	}
	if r.withdrawn(obs) || r.another(o.ID, server) {
		return
	}
	gangjob.JudgeClaims(&r.Builder, o.ID, r.gate.site, server.Claims, 1, server.GPUs)
	r.Figure(check.Figure{Name: "time until healthy", Value: server.WaitedSeconds, Unit: "s"})
	if models, o, ok := answer[ModelsFigures](r, obs, KindModels, "/v1/models"); ok {
		r.models(o.ID, models)
	}
	if completion, o, ok := answer[CompletionFigures](r, obs, KindCompletion, "the greedy completion"); ok {
		r.completion(o.ID, completion)
	}
	if load, o, ok := check.RequireLast[LoadFigures](&r.Builder, obs, KindLoad, "", "load of job "+jobName, r.gate.remedyLoad()); ok {
		r.load(o.ID, load)
	}
	if end, o, ok := check.RequireLast[ServerFigures](&r.Builder, obs, KindEnd, "", "server of job "+jobName+" after the load", r.gate.remedyRun()); ok {
		r.after(o.ID, end)
	}
}

// remedyRun is for a server that could not be started, or not watched.
func (g *Gate) remedyRun() string {
	if g.site.Slurm != nil {
		return remedyJob
	}
	return remedyRun
}

// withdrawn reports a job that Slurm ended or suspended under the load. Its requests failed with it.
func (r *review) withdrawn(obs []check.Observation) bool {
	for _, o := range check.OfKind(obs, KindEnd) {
		if f, err := check.Decode[ServerFigures](o); err == nil && f.Withdrawn != "" {
			r.Unobserved(o.ID, f.place().String(), remedyJob, "the server's job did not last until the end of the load: %s", f.Withdrawn)
			return true
		}
	}
	return false
}

// another reports an answer of another server than the job's.
func (r *review) another(id string, f ServerFigures) bool {
	if !f.another() {
		return false
	}
	r.Unobserved(id, f.place().String(), remedyPort, "another server answers on the port of job %s: it serves %s, and not %s", f.Job, orNone(f.Served), serverName(f.Job))
	return true
}

// remedyLoad is for a load that was not observed.
func (g *Gate) remedyLoad() string {
	if !g.inside() {
		return remedyRun
	}
	return "check that the nodes can pull workloads.inference.loadImage and that nothing evicts the pods of job " + loadJob + "; then run it again with --from inference"
}

// review judges one server.
type review struct {
	check.Builder
	gate *Gate
	// passed is the reason of a pass, node that of the server.
	passed, node string
}

// answer decodes the last observation of a request. A request that failed at the server fails
// the gate; one that ended because firstlight's time was over was not observed.
func answer[T interface{ failure() string }](r *review, obs []check.Observation, kind, request string) (v T, o check.Observation, ok bool) {
	v, o, ok = check.RequireLast[T](&r.Builder, obs, kind, "", "server of job "+jobName, remedyTime)
	if ok && v.failure() != "" {
		r.Fail(o.ID, "server of job "+jobName, remedyLog, "%s: the request failed: %s", request, v.failure())
		ok = false
	}
	return v, o, ok
}

func (f ModelsFigures) failure() string     { return f.Failure }
func (f CompletionFigures) failure() string { return f.Failure }

// after demands that the server did not restart or become unhealthy during the load.
func (r *review) after(id string, f ServerFigures) {
	suspect := f.place().String()
	if f.Restarts > 0 {
		r.Fail(id, suspect, remedyLog, "the server restarted %d times%s", f.Restarts, lastError(f.Log.Errors))
	}
	switch {
	case f.Crashed:
		r.Fail(id, suspect, remedyLog, "the server has terminated%s: %s", f.cause(), f.Problem)
	case r.another(id, f):
	case f.Healthy && f.Job != "" && f.State != "RUNNING":
		r.Unobserved(id, suspect, remedyJob, "job %s is %q after the load, and not RUNNING", f.Job, f.State)
	case f.Healthy:
	case f.Unreached:
		r.Unobserved(id, suspect, f.remedyForward()+"; read the server's log in the evidence; then run the gate again", "the server could not be reached after the load: %s", f.Problem)
	default:
		r.Fail(id, suspect, remedyLog, "the server was not healthy after the load%s%s", because(f.Problem), lastError(f.Log.Errors))
	}
}

// remedyForward is for a port of the server that could not be reached.
func (f ServerFigures) remedyForward() string {
	if f.Job != "" {
		return "check the SSH connection to " + f.Node + ", and that its sshd permits forwarding (AllowTcpForwarding, DisableForwarding, PermitOpen)"
	}
	return "check the API server and the node's kubelet, which forward the port"
}

// because is a reason, as the end of a sentence.
func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

// lastError is the last error line, as the end of a sentence.
func lastError(errs []string) string {
	if len(errs) == 0 {
		return ""
	}
	return ": " + strings.TrimSpace(errs[len(errs)-1])
}

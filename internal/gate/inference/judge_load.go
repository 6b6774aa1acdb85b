package inference

import (
	"cmp"
	"fmt"
	"time"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/gate/inference/load"
	"github.com/firstlight/firstlight/internal/site"
)

const (
	remedyRequests = "read the errors in the evidence and the server's log; failures under load are often a full queue, a crashed engine or a timeout of a proxy"
	remedyDrain    = "read the server's log in the evidence: the load generator waits for twice the time of an answer that just meets the objectives, and a minute; then run it again with --from inference"
	remedyTTFT     = "check queueing and prefill: vllm:num_requests_waiting, chunked prefill and --max-num-batched-tokens, prompt lengths; add replicas if the queue grows"
	remedyTPOT     = "check decoding: batch size (--max-num-seqs), vllm:kv_cache_usage_perc and preemptions, GPU clocks, and NVLink and NCCL of the tensor-parallel group"
	remedyQueue    = "the server schedules fewer requests than arrive: check --max-num-seqs, --max-num-batched-tokens and the KV cache (vllm:kv_cache_usage_perc, vllm:num_preemptions_total); add replicas or GPUs, or lower workloads.inference.rate of the site"
	remedyITL      = "check what pauses decoding: vllm:num_preemptions_total, long prompts without chunked prefill, garbage collection, a proxy that buffers the stream"
	remedyLength   = "check max_new_tokens in the model's generation_config.json (--generation-config, --override-generation-config), --max-model-len, and proxies that truncate streams"
	remedyRate     = "compare vllm:num_requests_running and num_requests_waiting with the concurrency: add replicas or GPUs, or lower workloads.inference.rate or concurrency of the site"
	remedyInside   = "check NetworkPolicies that select the pods of the run's namespace, cluster DNS on the node of the load generator (getent ahosts), and the pod network between the nodes"
	remedySentLate = "run it again with --from inference; leave CPU free on the nodes that run the load generator, or choose others with workloads.pod of the site"
	remedyBoth     = "both prefill and decoding are slow: check GPU clocks, power limits and throttling, other processes on the GPUs, and the tensor-parallel links"
)

// load requires every request, and the objective at the 99th percentile.
func (r *review) load(id string, f LoadFigures) {
	w := r.gate.site.Workloads.Inference
	if f.Unreached != "" {
		r.Fail(id, "Service "+jobName+" inside the cluster", remedyInside, "the server is healthy, and the load generator on %s cannot reach it: %s", f.Node, f.Unreached)
		return
	}
	r.sent(id, f)
	m := measure(counted(f))
	r.Figure(
		check.Figure{Name: "requests", Value: float64(len(f.Requests)), Unit: "requests", Limit: float64(w.Requests), Relation: "==", Source: "site workloads.inference.requests"},
		check.Figure{Name: "failed requests", Value: float64(m.failed), Unit: "requests", Limit: 0, Relation: "==", Source: "gate: no request may fail"})
	if m.failed > 0 {
		r.Fail(id, "requests to job "+jobName, remedyRequests, "%d of %d requests failed, the first with: %s", m.failed, len(f.Requests), m.firstError)
	}
	warm := measure(f.WarmupRequests)
	if n := m.lost + warm.lost; n > 0 {
		r.Unobserved(id, "SSH connection to "+r.node, remedyLost, "%d of %d requests ended with the SSH connection, or could not be sent over it", n, len(f.WarmupRequests)+len(f.Requests))
	}
	n := m.timedOut + warm.timedOut
	switch {
	case n > 0 && f.Client == site.ClientCluster:
		r.Unobserved(id, "requests to job "+jobName, remedyDrain, "%d of %d requests had no answer %s after the last one was due", n, len(f.WarmupRequests)+len(f.Requests), r.gate.drains())
	case n > 0:
		r.Unobserved(id, "requests to job "+jobName, remedyTime, "%d of %d requests had no answer when firstlight's own time was over (site workloads.inference.timeout)", n, len(f.WarmupRequests)+len(f.Requests))
	}
	if m.empty > 0 {
		r.Fail(id, "tokens of model "+w.Model, remedyRequests, "%d of %d requests were answered without any output token", m.empty, len(f.Requests))
	}
	if m.single > 0 {
		r.Unobserved(id, "tokens of model "+w.Model, "request more output tokens", "%d answers have only one token and so no time per output token", m.single)
	}
	r.length(id, f.Requests)
	if m.impossible > 0 {
		r.Unobserved(id, generator(f), "check its clock, then run again: firstlight accept --from inference", "%d requests have negative times: they were not measured", m.impossible)
	}
	if f.Seconds <= 0 {
		r.Unobserved(id, "job "+jobName, remedyRun, "the duration of the load is unknown")
	}
	r.latency(id, f, m)
}

// sent requires that the load is the site's.
func (r *review) sent(id string, f LoadFigures) {
	w := r.gate.site.Workloads.Inference
	if from := cmp.Or(f.Client, site.ClientMachine); from != r.gate.client() {
		r.Unobserved(id, "job "+jobName, remedyRun, "the load was sent from %s, the site requires %s (workloads.inference.client)", from, r.gate.client())
	}
	if f.RatePerSecond != w.Rate || f.Concurrency != r.gate.concurrency() || f.InputTokens != w.InputTokens || f.OutputTokens != w.OutputTokens || f.Asked != w.Requests {
		r.Unobserved(id, "job "+jobName, remedyRun, "the load differs from the site's: %d requests at %g/s, %d at a time", f.Asked, f.RatePerSecond, f.Concurrency)
	}
	if warm := measure(f.WarmupRequests); warm.failed > 0 && len(f.Requests) < w.Requests {
		// otherwise the warm-up is not judged
		r.Fail(id, "requests to job "+jobName, remedyRequests, "the load could not be run: %d of %d warm-up requests failed, the first with: %s", warm.failed, len(f.WarmupRequests), warm.firstError)
	}
	if len(f.Requests) != w.Requests {
		r.Unobserved(id, "job "+jobName, remedyRun, "%d requests were measured, the site requires %d", len(f.Requests), w.Requests)
	}
	if len(f.WarmupRequests) != w.Warmup {
		r.Unobserved(id, "job "+jobName, remedyRun, "%d warm-up requests were sent, the site requires %d", len(f.WarmupRequests), w.Warmup)
	}
}

// length requires that each answer has the requested number of tokens, since ignore_eos is set.
// A piece of a stream may have several tokens, so only the server's count proves a short answer.
// Answers without tokens are judged elsewhere.
func (r *review) length(id string, requests []Request) {
	w := r.gate.site.Workloads.Inference
	short, uncounted, shortest := 0, 0, w.OutputTokens
	for _, q := range requests {
		switch {
		case q.Error != "" || q.Tokens == 0 || q.Tokens >= w.OutputTokens:
		case q.FromUsage:
			short++
			shortest = min(shortest, q.Tokens)
		default:
			uncounted++
		}
	}
	if short > 0 {
		r.Fail(id, "length of answers of model "+w.Model, remedyLength, "%d of %d answers have fewer than the requested %d tokens, the shortest has %d: the load was lighter than the site's", short, len(requests), w.OutputTokens, shortest)
	}
	if uncounted > 0 {
		r.Unobserved(id, "length of answers of model "+w.Model, "let the server count tokens (stream_options.include_usage)",
			"%d answers have fewer pieces than the requested %d tokens, and the server does not report their number of tokens",
			uncounted, w.OutputTokens)
	}
}

// measured are the results of all requests, in ms.
type measured struct {
	failed, empty int
	// timedOut requests had no answer when our own time was over.
	timedOut int
	// lost requests ended with the SSH connection to the server's host.
	lost int
	// impossible requests have negative times.
	impossible int
	// single answers have one token and so no time per output token.
	single          int
	firstError      string
	ttft, tpot, e2e []float64
	tokens          int
	lag             float64
}

func measure(requests []Request) measured {
	var m measured
	for _, q := range requests {
		m.lag = max(m.lag, q.Sent-q.Due)
		if q.Sent < q.Due-sendSlack || belowZero(q.TTFT) || belowZero(q.TPOT) || belowZero(q.E2E) {
			m.impossible++
		}
		switch {
		case q.TimedOut:
			m.timedOut++
			continue
		case q.Lost:
			m.lost++
			continue
		case q.Error != "":
			if m.failed++; m.failed == 1 {
				m.firstError = q.Error
			}
			continue
		case q.Tokens == 0 || q.TTFT == nil || q.E2E == nil:
			m.empty++
			continue
		}
		m.tokens += q.Tokens
		m.ttft = append(m.ttft, *q.TTFT)
		m.e2e = append(m.e2e, *q.E2E)
		if q.TPOT == nil {
			m.single++
			continue
		}
		m.tpot = append(m.tpot, *q.TPOT)
	}
	return m
}

// sendSlack is the rounding tolerance of send times, in ms.
const sendSlack = 1

func belowZero(ms *float64) bool { return ms != nil && *ms < 0 }

// objective is the site's objective, or else the profile's, in ms.
func objective(own time.Duration, key string, def float64, source string) (limit float64, from string) {
	if own > 0 {
		return load.Milliseconds(own), "site workloads.inference." + key
	}
	return def, "profile inference." + key + ": " + source
}

func (g *Gate) ttftLimit() (limit float64, from string) {
	p := g.profile.Inference.TTFTp99
	return objective(g.site.Workloads.Inference.TTFTp99.D(), "ttftP99", p.Value, p.Source)
}

func (g *Gate) tpotLimit() (limit float64, from string) {
	p := g.profile.Inference.TPOTp99
	return objective(g.site.Workloads.Inference.TPOTp99.D(), "tpotP99", p.Value, p.Source)
}

func (g *Gate) itlLimit() (limit float64, from string) {
	p := g.profile.Inference.ITLp99
	return objective(g.site.Workloads.Inference.ITLp99.D(), "itlP99", p.Value, p.Source)
}

// latency compares the 99th percentiles with the objective.
func (r *review) latency(id string, f LoadFigures, m measured) {
	if len(m.tpot) == 0 {
		r.Unobserved(id, "job "+jobName, remedyRun, "no latency was measured")
		return
	}
	ttft, tpot, e2e := load.PercentilesOf(m.ttft), load.PercentilesOf(m.tpot), load.PercentilesOf(m.e2e)
	ttftLimit, ttftFrom := r.gate.ttftLimit()
	tpotLimit, tpotFrom := r.gate.tpotLimit()
	itlLimit, itlFrom := r.gate.itlLimit()
	r.Figure(
		check.Figure{Name: "TTFT p99", Value: ttft.P99, Unit: "ms", Limit: ttftLimit, Relation: "<=", Source: ttftFrom},
		check.Figure{Name: "TPOT p99", Value: tpot.P99, Unit: "ms", Limit: tpotLimit, Relation: "<=", Source: tpotFrom})
	for _, q := range []struct {
		name string
		p    Percentiles
	}{{"TTFT", ttft}, {"TPOT", tpot}, {"ITL", f.ITL}, {"E2E", e2e}} {
		r.Figure(
			check.Figure{Name: q.name + " p50", Value: q.p.P50, Unit: "ms"}, check.Figure{Name: q.name + " p90", Value: q.p.P90, Unit: "ms"})
	}
	r.Figure(
		check.Figure{Name: "ITL p99", Value: f.ITL.P99, Unit: "ms", Limit: itlLimit, Relation: "<=", Source: itlFrom}, check.Figure{Name: "E2E p99", Value: e2e.P99, Unit: "ms"},
		check.Figure{Name: "output tokens", Value: float64(m.tokens), Unit: "tokens"},
		check.Figure{Name: "latest request behind its time", Value: max(0, m.lag), Unit: "ms", Limit: ttftLimit, Relation: "<=", Source: "TTFT objective: a request that waits to be sent has no first token"},
		check.Figure{Name: "longest stall of firstlight itself", Value: f.ClientStall, Unit: "ms"})
	if f.Client == site.ClientCluster {
		r.Figure(check.Figure{Name: "requests sent after they were due, p99", Value: lateness(f), Unit: "ms", Limit: maxLateness * ttftLimit, Relation: "<=", Source: "gate: 1 % of the TTFT objective, from whose due time latencies count"})
	}
	if f.Seconds > 0 {
		r.Figure(
			check.Figure{Name: "goodput", Value: float64(Objectives{TTFT: ttftLimit, TPOT: tpotLimit}.Good(f)) / f.Seconds, Unit: "requests/s"},
			check.Figure{Name: "output throughput", Value: float64(m.tokens) / f.Seconds, Unit: "tokens/s"},
			check.Figure{Name: "request throughput", Value: float64(len(m.ttft)) / f.Seconds, Unit: "requests/s"})
	}
	if late := r.gate.sentLate(f); late != "" {
		r.Unobserved(id, generator(f), remedySentLate, "%s: the latencies are not the server's alone", late)
		return
	}
	if r.gate.spoiled(f) {
		r.Unobserved(id, generator(f),
			"run again from an idle machine near the cluster: firstlight accept --from inference",
			"TTFT p99 is %.0f ms, TPOT p99 %.1f ms and the latest request %.0f ms behind its time, but %s: the cause of the latency is unknown",
			ttft.P99, tpot.P99, m.lag, r.gate.stall(f))
		return
	}
	r.rate(id, f, m, ttft.P99 > ttftLimit || tpot.P99 > tpotLimit)
	r.slow(id, ttft.P99, ttftLimit, tpot.P99, tpotLimit, r.from(f))
	r.pauses(id, f.ITL.P99, itlLimit)
	r.passed = fmt.Sprintf("%d requests, none failed: TTFT p99 %.0f ms, TPOT p99 %.1f ms%s", len(m.ttft), ttft.P99, tpot.P99, r.from(f))
}

// from is the place of the load generator, as the end of a sentence: latencies of a port-forward and of a limited
// loop are not those of clients in the cluster.
func (r *review) from(f LoadFigures) string {
	switch {
	case f.Client != site.ClientCluster && r.gate.site.Slurm != nil:
		return fmt.Sprintf(", from firstlight's own machine through SSH, at most %d at a time", f.Concurrency)
	case f.Client != site.ClientCluster:
		return fmt.Sprintf(", from firstlight's own machine by port-forward, at most %d at a time", f.Concurrency)
	case f.Node == r.node && len(r.gate.site.Inventory.Nodes) > 1:
		return ", from inside the cluster (" + f.Node + "), the server's own node: the network between nodes was not used"
	}
	return ", from inside the cluster (" + f.Node + ")"
}

// generator is the load generator as a suspect.
func generator(f LoadFigures) string {
	if f.Client == site.ClientCluster {
		return "load generator on " + f.Node
	}
	return "firstlight's own machine"
}

func (r *review) slow(id string, ttft, ttftLimit, tpot, tpotLimit float64, from string) {
	if ttftLimit <= 0 || tpotLimit <= 0 {
		r.Unobserved(id, "site workloads.inference", "set ttftP99 and tpotP99", "the latencies have no objective")
		return
	}
	forTTFT, forTPOT := remedyTTFT, remedyTPOT
	if ttft > ttftLimit && tpot > tpotLimit {
		forTTFT, forTPOT = remedyBoth, remedyBoth
	}
	suspect := "server of job " + jobName
	if ttft > ttftLimit {
		r.Fail(id, suspect+" (TTFT)", forTTFT, "the time to first token (TTFT) is %.0f ms at p99, the objective is %.0f ms; TPOT is %.1f ms (objective %.0f)%s", ttft, ttftLimit, tpot, tpotLimit, from)
	}
	if tpot > tpotLimit {
		r.Fail(id, suspect+" (TPOT)", forTPOT, "the time per output token (TPOT) is %.1f ms at p99, the objective is %.0f ms; TTFT is %.0f ms (objective %.0f)%s", tpot, tpotLimit, ttft, ttftLimit, from)
	}
}

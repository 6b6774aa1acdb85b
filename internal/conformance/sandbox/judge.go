package sandbox

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/standing"
)

// Judge implements check.Check. One class that is a sandbox is enough.
func (c *Check) Judge(obs []check.Observation) check.Judgement {
	var a standing.Account
	all, id, ok := standing.Read[[]class](&a, obs, kindClasses)
	if !ok {
		return a.Judgement()
	}
	try := candidates(all)
	if len(try) == 0 {
		message := "there is none"
		if names := say(all); names != "" {
			message = "all there are share the node's kernel: " + names
		}
		a.Lacks(id, "RuntimeClass", message, "install a sandboxing runtime on a pool of nodes, such as gVisor or Kata Containers, with its RuntimeClass")
		return a.Judgement()
	}
	var best standing.Account
	for i, one := range try {
		var of standing.Account
		judgeClass(&of, obs, one)
		if i == 0 || better(&of, &best) {
			best = of
		}
	}
	return best.Judgement()
}

// better says that an account is one of more: a class that is a sandbox before one that
// could not be seen, before one that is none.
func better(a, than *standing.Account) bool {
	rank := func(a *standing.Account) int {
		j := a.Judgement()
		switch {
		case j.Verdict == check.Passed:
			return 3
		case j.Verdict == check.Unobserved && strings.HasPrefix(j.Reason, "partially"):
			return 1
		case j.Verdict == check.Unobserved:
			return 2
		default:
			return 0
		}
	}
	return rank(a) > rank(than)
}

func judgeClass(a *standing.Account, obs []check.Observation, one class) {
	mine := slices.DeleteFunc(check.OfKind(obs, kindPods), func(o check.Observation) bool { return o.Target != one.Name })
	t, id, ok := standing.Read[tried](a, mine, kindPods)
	if !ok {
		return
	}
	suspect := "RuntimeClass " + one.Name
	pod := "pod " + t.Sandbox.Pod
	switch {
	case strings.Contains(t.Sandbox.State()+t.Plain.State(), "ImagePull"):
		a.Unseen(id, pod, "the image could not be pulled: "+t.Sandbox.State(), "set telemetry.loadImage in the site file to an image that the nodes can pull")
	case t.Sandbox.Refused():
		a.Has("%s is there, by handler %s", suspect, one.Handler)
		a.Lacks(id, pod, "no node takes it: "+t.Sandbox.State(), "add nodes that run handler "+one.Handler)
	case !t.Sandbox.Runs():
		a.Has("%s is there, by handler %s", suspect, one.Handler)
		a.Lacks(id, pod, "it does not run: "+t.Sandbox.State(), "see that the nodes' container runtime has handler "+one.Handler)
	case t.Inside == nil:
		a.Unseen(id, pod, "it does not say which kernel it runs on: "+t.Silent, "look at its log and at telemetry.loadImage: the image needs a shell and cat")
	case t.Outside == nil:
		a.Unseen(id, "pod "+t.Plain.Pod, "the pod beside it does not say which kernel it runs on: "+t.Plain.State()+" "+t.Silent, "run the check again")
	case t.Plain.Node != t.Sandbox.Node:
		a.Unseen(id, "pod "+t.Plain.Pod, fmt.Sprintf("it is on %s, the other on %s: two nodes have two kernels anyway", t.Plain.Node, t.Sandbox.Node), "run the check again")
	case !t.Inside.other(*t.Outside):
		a.Lacks(id, suspect, "a pod under it runs on the node's own kernel: "+t.Outside.Version, "let handler "+one.Handler+" be a sandboxing runtime: it isolates nothing")
	default:
		a.Has("under %s (handler %s) a pod on %s ran on %q, one beside it under none on %q", suspect, one.Handler, t.Sandbox.Node, t.Inside.Version, t.Outside.Version)
	}
}

// say names classes with their handlers.
func say(all []class) string {
	var out []string
	for _, c := range all {
		out = append(out, c.Name+" (handler "+c.Handler+")")
	}
	return strings.Join(out, ", ")
}

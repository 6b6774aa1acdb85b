package recommended

import (
	"slices"
	"strings"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/testpod"
)

// Judge implements check.Check. One class that is a sandbox is enough.
func (c *Sandbox) Judge(obs []check.Observation) check.Judgement {
	var a assessment
	all, id, ok := require[[]runtimeClass](&a, obs, kindClasses, "")
	if !ok {
		return a.judgement()
	}
	tested := candidates(all)
	if len(tested) == 0 {
		message := "not found"
		if len(all) > 0 {
			var names []string
			for _, class := range all {
				names = append(names, class.Name+" (handler "+class.Handler+")")
			}
			message = "all of them share the node's kernel: " + strings.Join(names, ", ")
		}
		a.unmet(id, "RuntimeClass", "install a sandboxing runtime on a pool of nodes, such as gVisor or Kata Containers, with its RuntimeClass", "%s", message)
		return a.judgement()
	}
	var best check.Judgement
	for i, class := range tested {
		var a assessment
		judgeClass(&a, obs, class)
		if j := a.judgement(); i == 0 || sandboxRank(j) > sandboxRank(best) {
			best = j
		}
	}
	return best
}

// sandboxRank orders judgements of classes: a sandbox, unknown, partial, none.
func sandboxRank(j check.Judgement) int {
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

func judgeClass(a *assessment, obs []check.Observation, class runtimeClass) {
	of := slices.DeleteFunc(check.OfKind(obs, kindSandboxed), func(o check.Observation) bool { return o.Target != class.Name })
	p, id, ok := require[sandboxPods](a, of, kindSandboxed, "")
	if !ok {
		return
	}
	suspect, pod, plain := "RuntimeClass "+class.Name, "pod "+p.Sandbox.Pod, "pod "+p.Plain.Pod
	switch {
	case p.Sandbox.ImagePullFailed() || p.Plain.ImagePullFailed():
		a.unknown(id, pod, testpod.ImageRemedy, "cannot pull the image: %s", p.Sandbox.Summary())
	case p.Sandbox.Unschedulable():
		a.met("%s exists, with handler %s", suspect, class.Handler)
		a.unmet(id, pod, "add nodes that run handler "+class.Handler, "no node takes it: %s", p.Sandbox.Summary())
	case !p.Sandbox.Running():
		a.met("%s exists, with handler %s", suspect, class.Handler)
		a.unmet(id, pod, "see that the nodes' container runtime has handler "+class.Handler, "does not run: %s", p.Sandbox.Summary())
	case p.Inside == nil:
		a.unknown(id, pod, "see its log and telemetry.loadImage: the image needs a shell and cat", "its log does not name its kernel: %s", p.LogError)
	case p.Outside == nil:
		a.unknown(id, plain, "run the check again", "the log of the plain pod does not name its kernel: %s %s", p.Plain.Summary(), p.LogError)
	case p.Plain.Node != p.Sandbox.Node:
		a.unknown(id, plain, "run the check again", "it is on %s, the sandboxed pod on %s: two nodes have two kernels anyway", p.Plain.Node, p.Sandbox.Node)
	case !p.Inside.differs(*p.Outside):
		a.unmet(id, suspect, "configure a sandboxing runtime for handler "+class.Handler+": it isolates nothing", "a pod of it runs on the node's own kernel: %s", p.Outside.Version)
	default:
		a.met("with %s (handler %s) a pod on %s ran on %q, a plain pod on %q", suspect, class.Handler, p.Sandbox.Node, p.Inside.Version, p.Outside.Version)
	}
}

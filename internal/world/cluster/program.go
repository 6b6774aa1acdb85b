package cluster

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"io"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/firstlight/firstlight/internal/world"
)

// GPU loads of programs.
func idleLoad() world.Load       { return world.Load{MemMiB: 4} }
func collectiveLoad() world.Load { return world.Load{Util: 100, PowerFrac: 0.55, MemMiB: 36000} }
func trainingLoad() world.Load   { return world.Load{Util: 99, PowerFrac: 0.92, MemMiB: 51200} }
func proftestLoad() world.Load   { return world.Load{Util: 100, PowerFrac: 0.99, MemMiB: 4400} }
func servingLoad() world.Load    { return world.Load{Util: 35, PowerFrac: 0.3, MemMiB: 72600} }

// program runs the container's program and returns its exit code. An error is a failure of the
// simulation, not of the program.
func (w *worker) program(out io.Writer, attempt int, h held) (int, error) {
	gpus := h.all(w.container.Name)
	switch w.kind {
	case kindCollective:
		return w.collective(out, gpus)
	case kindTraining:
		return w.training(out, gpus)
	case kindLoad:
		return w.proftest(out, gpus)
	case kindInference:
		return w.inference(out, attempt, gpus)
	case kindExporter:
		return w.exporter()
	case kindDevices:
		return w.devices(out, w.container, h)
	case kindResponder:
		return w.responder(out)
	case kindResolver:
		return w.resolver(out)
	case kindFirstlight:
		return w.firstlight(out)
	case kindRay:
		return w.ray(out, attempt)
	case kindOther:
	}
	<-w.ctx.Done()
	return 0, nil
}

// usage ends a program with invalid arguments.
func usage(out io.Writer, format string, args ...any) (int, error) {
	_, err := fmt.Fprintf(out, format+"\n", args...)
	return 2, err
}

// setLoad sets the load of the pod's GPUs.
func (w *worker) setLoad(gpus []int, load world.Load) error {
	if len(gpus) == 0 {
		return nil
	}
	return w.runtime.world.SetLoad(string(w.pod.UID), load)
}

// join adds the pod to its job's gang.
func (w *worker) join(gpus []int) (*gang, func()) {
	pod := w.current()
	return w.runtime.gangs.join(gangKey(pod), member{
		index: rankOf(pod), host: hostname(pod), ip: pod.Status.PodIP, node: pod.Spec.NodeName, gpus: gpus,
	})
}

// seed combines the world's seed and the job's name: the same job in the same world gives the same
// figures.
func (w *worker) seed(state world.State) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(cmp.Or(w.env["JOB_NAME"], w.pod.Labels[batchv1.JobNameLabel]))) // never fails
	return state.Seed ^ h.Sum64()
}

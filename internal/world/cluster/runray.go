package cluster

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/firstlight/firstlight/internal/world/ray"
)

// labelRay is on the pods of a RayCluster, labelRayType has their part.
const (
	labelRay     = "ray.io/cluster"
	labelRayType = "ray.io/node-type"
	rayHead      = "head"
)

// rayPoll is the interval at which a running head looks for the fault that ends it.
const rayPoll = 200 * time.Millisecond

// ray simulates ray start --block: a head serves its API, a worker joins the head's cluster while it runs.
func (w *worker) ray(out io.Writer, attempt int) (int, error) {
	if w.pod.Labels[labelRayType] != rayHead {
		_, err := fmt.Fprintln(out, "--------------------\nRay runtime started.\n--------------------")
		<-w.ctx.Done()
		return 0, err
	}
	restarting := func() bool { return w.runtime.world.Recent().Ray.HeadRestarting }
	if restarting() {
		_, err := fmt.Fprintln(out, "gcs_server.out: Check failed: redis connection lost\nSome Ray subprocesses exited unexpectedly:\n  gcs_server [exit code=-6]")
		return 1, orElse(err, sleepOr(w, crashTime))
	}
	closed, err := w.listen(w.ctx, ray.New(w.rayNodes, time.Now).Handler())
	if err != nil {
		return 1, ignoreDone(w, err)
	}
	defer closed()
	if _, err := fmt.Fprintln(out, "Local node IP: "+w.current().Status.PodIP+"\nRay runtime started."); err != nil {
		return 1, err
	}
	if attempt > 0 { // it was held while it crashed
		if err := annotateHold(w.ctx, w.runtime.client, w.pod, false); err != nil {
			return 0, ignoreDone(w, err)
		}
	}
	for sleep(w.ctx, rayPoll) == nil {
		if restarting() {
			return 1, nil
		}
	}
	return 0, nil
}

func orElse(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

// rayNodes are the raylets that are registered with the head of this pod, by name.
func (w *worker) rayNodes() []ray.Node {
	var out []ray.Node
	state := w.runtime.world.Recent()
	for _, obj := range w.runtime.pods.List() {
		pod, ok := obj.(*corev1.Pod)
		if !ok || pod.Namespace != w.pod.Namespace || pod.Labels[labelRay] != w.pod.Labels[labelRay] || pod.Labels[labelRay] == "" ||
			pod.Status.Phase != corev1.PodRunning || pod.DeletionTimestamp != nil {
			continue
		}
		host, _ := state.Node(pod.Spec.NodeName)
		if host.RayNotReady {
			continue
		}
		n := ray.Node{
			Name: pod.Name, Address: pod.Status.PodIP, Head: pod.Labels[labelRayType] == rayHead,
			CPUs: rayParameter(pod, "num-cpus"), GPUs: rayParameter(pod, "num-gpus"), CommitFails: host.RayCommitFails,
		}
		if n.Devices = n.GPUs; host.RayGPUsShort {
			n.Devices = max(0, n.Devices-1)
		}
		out = append(out, n)
	}
	slices.SortFunc(out, func(a, b ray.Node) int { return strings.Compare(a.Name, b.Name) })
	return out
}

var rayParameters = regexp.MustCompile(`--(num-cpus|num-gpus)=(\d+)`)

// rayParameter is a number of the pod's ray start; 0 without it.
func rayParameter(pod *corev1.Pod, name string) int {
	for _, m := range rayParameters.FindAllStringSubmatch(strings.Join(pod.Spec.Containers[0].Args, " "), -1) {
		if m[1] == name {
			n, _ := strconv.Atoi(m[2]) // digits
			return n
		}
	}
	return 0
}

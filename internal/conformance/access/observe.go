package access

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firstlight/firstlight/internal/check"
	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/conformance/dra/testpod"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

func (c *Check) observe(ctx context.Context, cluster *kube.Cluster, rec check.Observer) (err error) {
	rec.Progress("looking for a node with a free GPU")
	free, err := c.findNode(ctx, cluster, rec)
	if err != nil || ctx.Err() != nil {
		return errors.Join(err, ctx.Err())
	}
	r, err := testpod.Open(ctx, cluster, c.deps.RunID, "access", c.deps.PodPatches, c.deps.Clock)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close(ctx)) }()
	rec.Progress("sending pods that bypass claims, in a dry run")
	for _, name := range []string{plain, hostPath, privileged} {
		if err := c.observeAdmission(ctx, r, rec, name); err != nil {
			return err
		}
	}
	if free.Node == "" {
		return nil
	}
	return c.observePods(ctx, r, rec, c.pods(free))
}

// plugin reports whether the device plugin mediates the access: the site declares no DeviceClass,
// and no GPU of its nodes is in a ResourceSlice.
func (c *Check) plugin(all []inventory.Slice) bool {
	return c.class == "" && !slices.ContainsFunc(c.nodes, func(node string) bool {
		gpus, _, _ := inventory.GPUsOnNode(all, node)
		return len(gpus) > 0
	})
}

// findNode returns the name of a node with a free GPU; empty if no node has one or the usage
// is unknown.
func (c *Check) findNode(ctx context.Context, cluster *kube.Cluster, rec check.Observer) (freeNode, error) {
	attempt := rec.Begin(kindSlices, "cluster", "GET resourceslices")
	all, failed := inventory.ListSlices(ctx, cluster)
	if apierrors.IsNotFound(failed) { // the cluster has no dynamic resource allocation
		all, failed = []inventory.Slice{}, nil
	}
	if err := attempt.Record(all, failed); err != nil || failed != nil {
		return freeNode{}, err
	}
	if c.plugin(all) {
		attempt = rec.Begin(kindFree, "cluster", inventory.UsageCommand(""))
		usage, failed := inventory.UsageBy(ctx, cluster, "", c.nodes)
		free := freeNode{GPUs: []inventory.NodeGPUs{}, Plugin: true, Usage: usage}
		if i := slices.IndexFunc(c.nodes, func(n string) bool { return usage[n].Free() > 0 }); i >= 0 {
			free.Node = c.nodes[i]
		}
		return free, attempt.Record(free, failed)
	}
	attempt = rec.Begin(kindFree, "cluster", "GET nodes, pods, resourceclaims: devices of the inventory's nodes that neither claims nor pods of the device plugin hold")
	gpus, failed := inventory.Usage(ctx, cluster, c.nodes, all)
	free := freeNode{GPUs: gpus}
	if nodes := inventory.NodesWithFree(gpus, 1); len(nodes) == 1 {
		free.Node = nodes[0]
	}
	return free, attempt.Record(free, failed)
}

// observeAdmission sends the API server a pod in a dry run. The pods are equal except for
// what must be refused.
func (c *Check) observeAdmission(ctx context.Context, r testpod.Runner, rec check.Observer, name string) error {
	pod, err := r.Pod(testpod.Spec{Name: name, Check: Name, Image: c.image, Containers: []testpod.Container{{Name: looker, Script: script}}})
	if err != nil {
		return err
	}
	container := &pod.Spec.Containers[0]
	switch name {
	case hostPath:
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: "dev", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/dev"}}})
		container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: "dev", MountPath: "/dev"})
	case privileged:
		container.SecurityContext = &corev1.SecurityContext{Privileged: new(true)}
	}
	attempt := rec.Begin(kindAdmission, name, fmt.Sprintf("POST namespaces/%s/pods?dryRun=All: %s", r.Namespace, name))
	_, err = r.Cluster.Client.CoreV1().Pods(r.Namespace).Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	answer, failed := admissionOf(err)
	return errors.Join(attempt.Record(answer, failed), ctx.Err())
}

// admissionOf distinguishes a refusal by the API server from a failed request.
func admissionOf(err error) (admission, error) {
	if err == nil {
		return admission{Admitted: true}, nil
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) || apierrors.IsTooManyRequests(err) || apierrors.IsInternalError(err) || apierrors.IsUnauthorized(err) {
		return admission{}, fmt.Errorf("create a pod in a dry run: %w", err)
	}
	s := status.Status()
	return admission{Code: int(s.Code), Reason: string(s.Reason), Message: s.Message}, nil
}

// pods are the pods that print their devices, the one with the GPU first.
func (c *Check) pods(free freeNode) []testpod.Spec {
	all := []corev1.EnvVar{{Name: "NVIDIA_VISIBLE_DEVICES", Value: "all"}}
	spec := func(name string, claim *testpod.Claim, containers ...testpod.Container) testpod.Spec {
		return testpod.Spec{Name: name, Check: Name, Image: c.image, Nodes: []string{free.Node}, Claim: claim, Containers: containers}
	}
	first := spec(claimant, &testpod.Claim{}, testpod.Container{Name: claimed, Script: script, Claims: true}, testpod.Container{Name: sibling, Script: script})
	if free.Plugin {
		first.Claim, first.Containers[0].Claims = nil, false
		first.Limits = map[string]int64{kube.GPUResource: 1}
	}
	return []testpod.Spec{
		first,
		spec(bystander, nil, testpod.Container{Name: looker, Script: script}),
		spec(asking, nil, testpod.Container{Name: looker, Script: script, Env: all}),
	}
}

// observePods runs the pods on a node. Those without a claim start once the pod with the
// claim runs, so that there is a GPU that they must not see.
func (c *Check) observePods(ctx context.Context, r testpod.Runner, rec check.Observer, specs []testpod.Spec) error {
	if runs, err := c.observePod(ctx, r, rec, specs[0]); err != nil || !runs {
		return err
	}
	for _, s := range specs[1:] {
		if _, err := c.observePod(ctx, r, rec, s); err != nil {
			return err
		}
	}
	attempt := rec.Begin(kindTogether, specs[0].Nodes[0], "read the pods again, and the claim")
	var all []testpod.Status
	var failed []error
	for _, s := range specs {
		status, err := r.Get(ctx, s.Name)
		all, failed = append(all, status), append(failed, err)
	}
	return errors.Join(attempt.Record(all, errors.Join(failed...)), ctx.Err())
}

// observePod starts a pod, waits until it runs and reads which devices its containers see.
func (c *Check) observePod(ctx context.Context, r testpod.Runner, rec check.Observer, s testpod.Spec) (runs bool, err error) {
	rec.Progress("pod %s", s.Name)
	attempt := rec.Begin(kindPod, s.Name, "create Pod "+s.Name+"; read Pod and ResourceClaim until it runs")
	if err := r.Start(ctx, s); err != nil {
		return false, errors.Join(attempt.Record(nil, err), ctx.Err())
	}
	status, failed := r.WaitFor(ctx, c.deps.Timeout, s.Name, func(s testpod.Status) bool { return s.Running() || s.Terminated() })
	if err := attempt.Record(status, failed); err != nil || failed != nil || !status.Running() {
		return false, errors.Join(err, ctx.Err())
	}
	for _, container := range s.Containers {
		attempt := rec.Begin(kindDevices, s.Name+"/"+container.Name, fmt.Sprintf("GET pods/%s/log?container=%s", s.Name, container.Name))
		devices, log, failed := testpod.WaitLog(ctx, r, c.deps.Timeout, s.Name, container.Name, ParseDevices)
		if err := attempt.Raw(log).Record(podDevices{UID: status.UID, Devices: devices}, failed); err != nil {
			return true, err
		}
	}
	return true, ctx.Err()
}

package preflight

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/version"

	"github.com/firstlight/firstlight/internal/conformance/dra/inventory"
	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/gate/gpustack"
	"github.com/firstlight/firstlight/internal/probe/guard"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

const whatAPI = "Kubernetes API"

// reachAPI asks the API server for its version.
func reachAPI(ctx context.Context, c *kube.Cluster) (string, error) {
	raw, err := c.Client.Discovery().RESTClient().Get().AbsPath("/version").Do(ctx).Raw()
	if err != nil {
		return "", err
	}
	var v version.Info
	if err := guard.JSON(raw, &v); err != nil {
		return "", fmt.Errorf("read the version of the API server: %w", err)
	}
	return v.GitVersion, nil
}

// judgeAPI has the line of the API server; reached: the other lines of the cluster can be observed.
func judgeAPI(host, version string, err error) (lines []Line, reached bool) {
	switch {
	case err == nil:
		return []Line{ok(whatAPI, host, "%s", version)}, true
	case apierrors.IsUnauthorized(err):
		lines = []Line{stop(whatAPI, host, "renew the credentials of the kubeconfig", "refuses the credentials: %v", err)}
	default:
		lines = []Line{stop(whatAPI, host, "make the API server of the kubeconfig reachable from this machine", "%v", err)}
	}
	return append(lines, unobserved("cluster", host, "make the API server reachable first", "permissions, namespace, nodes, pods and images were not checked")), false
}

// cluster observes and judges what the gates need of the cluster.
func (o Options) cluster(ctx context.Context, c *kube.Cluster, required gate.Required) ([]Line, error) {
	version, err := reachAPI(ctx, c)
	lines, reached := judgeAPI(c.Config.Host, version, err)
	if !reached {
		return lines, nil
	}
	permissions, err := gate.Permissions(o.Site, gate.Allowed{Gates: o.Gates, Namespace: o.Namespace})
	if err != nil {
		return nil, err
	}
	// The trials of the commands show which conditional permissions a run needs.
	permissions = slices.DeleteFunc(permissions, func(p gate.Permission) bool { return p.Conditional })
	names := o.Site.NodeNames()
	space := observeSpace(ctx, c, o.Namespace)
	gang := observeGang(ctx, c, o.Site.GPUStack)
	gangLine, scheduler := judgeGang(gang, o.Site.GPUStack)
	class, classErr := inventory.Class(ctx, c, o.Site.GPUStack, names)
	for i := range required.Workloads {
		required.Workloads[i].DefaultClass(class)
	}
	pods, err := render(space.name, scheduler, required.Workloads)
	if err != nil {
		return nil, err
	}

	var (
		granted     []access
		asked       bool
		priorityErr error
		quotas      quotaFacts
		quotasErr   error
		admission   []admitted
		nodes       nodeFacts
		images      []imageFacts
		stack       stackFacts
		work        sync.WaitGroup
	)
	work.Go(func() { granted = observeAccess(ctx, c, permissions) })
	work.Go(func() { asked, priorityErr = observePriority(ctx, c) })
	work.Go(func() { stack = observeStack(ctx, c, o.Site.GPUStack) })
	work.Go(func() {
		if nodes.err = classErr; classErr == nil {
			nodes = observeNodes(ctx, c, class, o.Site.GPUStack.MIG, names)
		}
		images = observeImages(ctx, c, o.Namespace, imagesOf(pods, required.Images), pullSecretsOf(pods), within(nodes.nodes, names))
	})
	if space.found != nil {
		work.Go(func() { quotas, quotasErr = observeQuotas(ctx, c, space.name) })
		work.Go(func() { admission = observeAdmission(ctx, c, space.name, pods) })
	}
	work.Wait()

	missing := ""
	if space.missing() {
		missing = space.name
	}
	lines = append(lines, judgeAccess(granted, missing, o.remedyAccess())...)
	lines = append(lines, judgeSpace(space)...)
	lines = append(lines, judgePriority(asked, priorityErr)...)
	lines = append(lines, judgePodSecurity(space, pods)...)
	if space.found != nil {
		lines = append(lines, judgeQuotas(space.name, quotas, quotasErr, pods)...)
		lines = append(lines, judgeAdmission(space.name, admission)...)
	}
	lines = append(lines, gangLine)
	lines = append(lines, judgeNodes(nodes, nodeDemand{
		names: names, gpus: o.gpus(), mig: o.Site.GPUStack.MIG, ports: o.Site.Fabric.NetworkResourceCount, networkResource: o.Site.Fabric.NetworkResource,
		every: slices.Contains(o.Gates, gpustack.Name), workloads: required.Workloads, tolerations: tolerations(pods),
	})...)
	if slices.Contains(o.Gates, gpustack.Name) {
		lines = append(lines, judgeStack(stack, o.Site.GPUStack)...)
	}
	for _, f := range images {
		lines = append(lines, judgeImage(f))
	}
	return lines, nil
}

// gpus are the GPUs that each node of the inventory must have, by name.
func (o Options) gpus() map[string]int {
	out := map[string]int{}
	for _, v := range o.Site.Views(o.Profile) {
		for _, name := range v.Site.NodeNames() {
			out[name] = int(v.Profile.Node.GPUs.Value)
		}
	}
	return out
}

// within are the nodes with one of these names.
func within(nodes []corev1.Node, names []string) []corev1.Node {
	return slices.DeleteFunc(slices.Clone(nodes), func(n corev1.Node) bool { return !slices.Contains(names, n.Name) })
}

// imagesOf are the images of the gates' pods and further ones, each once.
func imagesOf(pods []rendered, more []string) []string {
	out := slices.Clone(more)
	for _, p := range pods {
		spec := p.template().Spec
		for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
			out = append(out, c.Image)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// pullSecretsOf are the names of the pull secrets of the gates' pods.
func pullSecretsOf(pods []rendered) []string {
	var out []string
	for _, p := range pods {
		for _, ref := range p.template().Spec.ImagePullSecrets {
			out = append(out, ref.Name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// remedyAccess is the command that prints the missing permissions.
func (o Options) remedyAccess() string {
	args := []string{"firstlight accept rbac"}
	if o.Namespace != "" {
		args = append(args, "--namespace "+o.Namespace)
	}
	return "apply the output of " + strings.Join(args, " ") + " with --site and --user as an administrator"
}

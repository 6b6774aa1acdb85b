package inference

import (
	_ "embed"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/firstlight/firstlight/internal/podpatch"
	"github.com/firstlight/firstlight/internal/probe/kube"
	"github.com/firstlight/firstlight/internal/workload"
)

//go:embed serve.sh
var serveScript string

//go:embed respond.sh
var respondScript string

const (
	group   = "gateway.networking.k8s.io"
	version = "v1"

	gatewayName  = "conformance"
	listenerName = "http"
	// missingService is never created.
	missingService = "nobody"
	// gpuTemplate is the name of the template of the servers' claims.
	gpuTemplate = "gpu"
	// serverPort is the port of a model server and of its Service.
	serverPort = 8000
	// lifetime limits a server that is not removed, in seconds.
	lifetime = 3900
)

// The paths of the routes, and one without a route.
const (
	modelsPath  = "/v1/models"
	splitPath   = "/v1"
	nowherePath = "/firstlight-nowhere"
	noRoutePath = "/firstlight-no-route"
)

// The servers and their Services. By the weights the first gets most requests.
const first, second = "model-a", "model-b"

func serverNames() [servers]string { return [servers]string{first, second} }

func served(name string) string { return "firstlight-" + name }

func resourceOf(plural string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: version, Resource: plural}
}

func (t *trial) labels(role string) map[string]string {
	l := kube.Labels(t.deps.RunID, Name)
	if role != "" {
		l[kube.LabelRole] = role
	}
	return l
}

func (t *trial) pod(name string, r placement) *corev1.Pod {
	c := corev1.Container{
		Name: "server", Image: t.image, Command: []string{"/bin/sh", "-c", respondScript},
		Env:   []corev1.EnvVar{{Name: "SERVED_MODEL_NAME", Value: served(name)}},
		Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: serverPort}},
		ReadinessProbe: &corev1.Probe{
			ProbeHandler:  corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/health", Port: intstr.FromInt32(serverPort)}},
			PeriodSeconds: 2,
		},
	}
	if !r.Scripts {
		c.Command = []string{"/bin/sh", "-c", serveScript}
		c.Env = append(c.Env, corev1.EnvVar{Name: "MODEL", Value: t.figures.Model},
			corev1.EnvVar{Name: "MAX_MODEL_LEN", Value: strconv.Itoa(t.figures.MaxModelLen)}, corev1.EnvVar{Name: "TP", Value: "1"})
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: t.namespace, Labels: t.labels(name)},
		Spec: corev1.PodSpec{
			RestartPolicy:                 corev1.RestartPolicyNever,
			PriorityClassName:             kube.PriorityClassOf(t.deps.RunID),
			AutomountServiceAccountToken:  new(false),
			EnableServiceLinks:            new(false),
			TerminationGracePeriodSeconds: new(int64(1)),
			ActiveDeadlineSeconds:         new(int64(lifetime)),
			Tolerations:                   []corev1.Toleration{{Key: kube.GPUResource, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}},
			Affinity:                      kube.OnNodes(r.Nodes),
			Containers:                    []corev1.Container{c},
		},
	}
	if !r.Scripts {
		t.request().Set(&pod.Spec)
	}
	return pod
}

// patchedPod is a server's pod with the patches of the site.
func (t *trial) patchedPod(name string, r placement) (*corev1.Pod, error) {
	pod, err := podpatch.ApplyPod(t.pod(name, r), t.deps.PodPatches...)
	if err != nil {
		return nil, fmt.Errorf("patch the pod %s: %w", name, err)
	}
	return pod, nil
}

// request is the request of a server for its GPU.
func (t *trial) request() workload.GPURequest {
	return workload.GPURequest{GPUs: 1, DeviceClass: t.Check.class, Template: gpuTemplate}
}

// claimTemplate is that of the servers' claims; nil if they claim no GPU.
func (t *trial) claimTemplate(r placement) *resourcev1.ResourceClaimTemplate {
	if r.Scripts {
		return nil
	}
	return t.request().ClaimTemplate(t.namespace, t.labels(""))
}

func (t *trial) service(name string) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: t.namespace, Labels: t.labels(name)},
		Spec: corev1.ServiceSpec{
			Selector: t.labels(name),
			Ports:    []corev1.ServicePort{{Name: "http", Port: serverPort, TargetPort: intstr.FromInt32(serverPort)}},
		},
	}
}

func (t *trial) object(kind, name string, spec map[string]any) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": group + "/" + version, "kind": kind, "spec": spec}}
	o.SetName(name)
	o.SetNamespace(t.namespace)
	o.SetLabels(t.labels(""))
	return o
}

func (t *trial) gateway(class string) *unstructured.Unstructured {
	return t.object("Gateway", gatewayName, map[string]any{
		"gatewayClassName": class,
		"listeners": []any{map[string]any{
			"name": listenerName, "port": int64(t.figures.ListenerPort), "protocol": "HTTP",
			"allowedRoutes": map[string]any{"namespaces": map[string]any{"from": "Same"}},
		}},
	})
}

// routes are a route to both servers, which sends a header to the second only, and a route to a
// missing Service.
func (t *trial) routes() []*unstructured.Unstructured {
	path := func(p string) map[string]any { return map[string]any{"type": "PathPrefix", "value": p} }
	to := func(name string, weight int) map[string]any {
		return map[string]any{"name": name, "port": int64(serverPort), "weight": int64(weight)}
	}
	parents := []any{map[string]any{"name": gatewayName}}
	split := t.object("HTTPRoute", routeSplit, map[string]any{"parentRefs": parents, "rules": []any{
		map[string]any{
			"matches": []any{map[string]any{"path": path(splitPath), "headers": []any{
				map[string]any{"type": "Exact", "name": t.figures.Header, "value": served(second)},
			}}},
			"backendRefs": []any{to(second, 1)},
		},
		map[string]any{
			"matches":     []any{map[string]any{"path": path(splitPath)}},
			"backendRefs": []any{to(first, t.figures.Weights[0]), to(second, t.figures.Weights[1])},
		},
	}})
	empty := t.object("HTTPRoute", routeEmpty, map[string]any{"parentRefs": parents, "rules": []any{
		map[string]any{"matches": []any{map[string]any{"path": path(nowherePath)}}, "backendRefs": []any{to(missingService, 1)}},
	}})
	return []*unstructured.Unstructured{split, empty}
}

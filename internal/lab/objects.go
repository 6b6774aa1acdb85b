package lab

import (
	"context"
	"fmt"
	"os"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/firstlight/firstlight/internal/lab/component"
	"github.com/firstlight/firstlight/internal/lab/manifest"
	"github.com/firstlight/firstlight/internal/lab/pki"
	"github.com/firstlight/firstlight/internal/poll"
)

// resources are the resource names of the kinds that a lab creates, known before discovery.
var resources = map[string]string{
	"CustomResourceDefinition": "customresourcedefinitions",
	"ClusterRole":              "clusterroles",
	"ClusterRoleBinding":       "clusterrolebindings",
	"Role":                     "roles",
	"RoleBinding":              "rolebindings",
	"Namespace":                "namespaces",
	"Service":                  "services",
	"APIService":               "apiservices",
	"PriorityClass":            "priorityclasses",
	"KWOKNodeClass":            "kwoknodeclasses",
	"GatewayClass":             "gatewayclasses",
	"Queue":                    "queues",
	"ResourceFlavor":           "resourceflavors",
	"ClusterQueue":             "clusterqueues",
	"Secret":                   "secrets",

	"MutatingWebhookConfiguration":   "mutatingwebhookconfigurations",
	"ValidatingWebhookConfiguration": "validatingwebhookconfigurations",
	"ClusterTrainingRuntime":         "clustertrainingruntimes",

	"ServiceAccount": "serviceaccounts",
	"ConfigMap":      "configmaps",
	"Deployment":     "deployments",
	"DaemonSet":      "daemonsets",
	"ClusterPolicy":  "clusterpolicies",
}

func resourceOf(client dynamic.Interface, obj *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	gvk := obj.GroupVersionKind()
	name, ok := resources[gvk.Kind]
	if !ok {
		return nil, fmt.Errorf("create %s %s: unknown kind", gvk.Kind, obj.GetName())
	}
	r := client.Resource(schema.GroupVersionResource{Group: gvk.Group, Version: gvk.Version, Resource: name})
	if ns := obj.GetNamespace(); ns != "" {
		return r.Namespace(ns), nil
	}
	return r, nil
}

// create creates the objects in parallel. It retries until ctx ends, for example until a namespace
// exists. Existing objects are kept.
func create(ctx context.Context, client dynamic.Interface, objs []*unstructured.Unstructured) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, obj := range objs {
		group.Go(func() error {
			r, err := resourceOf(client, obj)
			if err != nil {
				return err
			}
			return poll.Until(ctx, pollInterval, obj.GetKind()+" "+obj.GetName()+" to be created", func(ctx context.Context) error {
				if err := createOne(ctx, r, obj); !apierrors.IsAlreadyExists(err) {
					return err
				}
				return nil
			})
		})
	}
	return group.Wait()
}

// custom are the kinds that the lab's own CustomResourceDefinitions define.
var custom = map[string]bool{"KWOKNodeClass": true, "GatewayClass": true, "Queue": true, "ClusterTrainingRuntime": true, "ClusterPolicy": true, "ResourceFlavor": true, "ClusterQueue": true}

// createOne creates an object. The API server delays create requests of a new kind by two seconds
// (other API servers may not serve it yet), but not apply requests.
func createOne(ctx context.Context, r dynamic.ResourceInterface, obj *unstructured.Unstructured) error {
	if custom[obj.GetKind()] {
		_, err := r.Apply(ctx, obj.GetName(), obj, metav1.ApplyOptions{FieldManager: "firstlight-lab"})
		return err
	}
	_, err := r.Create(ctx, obj, metav1.CreateOptions{})
	return err
}

// createObjects is the step component.Objects: the objects that kwok and Prometheus need before
// they start.
func (l *Lab) createObjects(ctx context.Context) error {
	crds, err := manifest.CRDs()
	if err != nil {
		return err
	}
	roles, err := manifest.Roles()
	if err != nil {
		return err
	}
	client, err := l.dynamicClient()
	if err != nil {
		return err
	}
	if err := create(ctx, client, append(crds, roles...)); err != nil {
		return err
	}
	for _, crd := range crds {
		if err := awaitCondition(ctx, client, crd, "Established"); err != nil {
			return err
		}
	}
	return nil
}

func (l *Lab) dynamicClient() (dynamic.Interface, error) {
	client, err := dynamic.NewForConfig(l.rest)
	if err != nil {
		return nil, fmt.Errorf("make client: %w", err)
	}
	return client, nil
}

// registerMetrics creates the metrics APIServices when the adapter serves and waits until they are
// available.
func (l *Lab) registerMetrics(ctx context.Context) error {
	services, err := l.metricsServices(component.Faults{})
	if err != nil {
		return err
	}
	client, err := l.dynamicClient()
	if err != nil {
		return err
	}
	if err := create(ctx, client, services); err != nil {
		return err
	}
	for _, s := range services {
		if err := awaitCondition(ctx, client, s, "Available"); err != nil {
			return err
		}
	}
	return nil
}

// extraValues returns the template values of extras for conf, which can have ports that l.conf
// does not have yet.
func extraValues(conf component.Config) (manifest.Values, error) {
	ca, err := os.ReadFile(conf.PKI().Cert(pki.CA))
	if err != nil {
		return manifest.Values{}, fmt.Errorf("read the lab's CA: %w", err)
	}
	return manifest.Values{
		Address: conf.Address, CA: ca, AdapterPort: conf.Ports.Adapter, JobSetWebhookPort: conf.Ports.JobSetWebhook, TrainerWebhookPort: conf.Ports.TrainerWebhook,
		KueueWebhookPort: conf.Ports.KueueWebhook,
	}, nil
}

// awaitCondition waits until the condition is True.
func awaitCondition(ctx context.Context, client dynamic.Interface, obj *unstructured.Unstructured, kind string) error {
	r, err := resourceOf(client, obj)
	if err != nil {
		return err
	}
	return poll.Until(ctx, pollInterval, obj.GetKind()+" "+obj.GetName()+" to be "+kind, func(ctx context.Context) error {
		got, err := r.Get(ctx, obj.GetName(), metav1.GetOptions{})
		if err != nil {
			return err
		}
		if status, message := conditionOf(got, kind); status != "True" {
			return fmt.Errorf("%s=%q: %s", kind, status, message)
		}
		return nil
	})
}

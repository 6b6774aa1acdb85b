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
)

// resources are those of the kinds that a lab creates. A discovery of the API
// would tell the same, later.
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

	"MutatingWebhookConfiguration":   "mutatingwebhookconfigurations",
	"ValidatingWebhookConfiguration": "validatingwebhookconfigurations",
	"ClusterTrainingRuntime":         "clustertrainingruntimes",
}

func resourceOf(client dynamic.Interface, obj *unstructured.Unstructured) (dynamic.ResourceInterface, error) {
	gvk := obj.GroupVersionKind()
	name, ok := resources[gvk.Kind]
	if !ok {
		return nil, fmt.Errorf("create %s %s: the lab creates no such kind", gvk.Kind, obj.GetName())
	}
	r := client.Resource(schema.GroupVersionResource{Group: gvk.Group, Version: gvk.Version, Resource: name})
	if ns := obj.GetNamespace(); ns != "" {
		return r.Namespace(ns), nil
	}
	return r, nil
}

// create makes the objects in parallel. What cannot be made yet (its namespace
// is a moment away) is tried again until ctx ends; what is there stays.
func create(ctx context.Context, client dynamic.Interface, objs []*unstructured.Unstructured) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, obj := range objs {
		group.Go(func() error {
			r, err := resourceOf(client, obj)
			if err != nil {
				return err
			}
			return poll(ctx, "creating "+obj.GetKind()+" "+obj.GetName(), func(ctx context.Context) (bool, error) {
				_, err := r.Create(ctx, obj, metav1.CreateOptions{})
				if err == nil || apierrors.IsAlreadyExists(err) {
					return true, nil
				}
				return false, err
			})
		})
	}
	return group.Wait()
}

// createObjects is the step component.Objects: all that kwok, Prometheus and
// the adapter need of the API before they start.
func (l *Lab) createObjects(ctx context.Context) error {
	crds, err := manifest.CRDs()
	if err != nil {
		return err
	}
	roles, err := manifest.Roles(l.manifestValues())
	if err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(l.rest)
	if err != nil {
		return fmt.Errorf("make client: %w", err)
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

// createGatewayAPI is the step stepGateways: the kinds and the class that the world's
// gateways serve. The kinds are large, and nothing else of the start waits for them.
func (l *Lab) createGatewayAPI(ctx context.Context) error {
	return l.createExtra(ctx, l.conf, "gateway")
}

// registerMetrics hands the metrics APIs to the adapter, which answers by now,
// and waits until the API server says so.
func (l *Lab) registerMetrics(ctx context.Context) error {
	services, err := l.metricsServices(component.Faults{})
	if err != nil {
		return err
	}
	client, err := dynamic.NewForConfig(l.rest)
	if err != nil {
		return fmt.Errorf("make client: %w", err)
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

func (l *Lab) manifestValues() manifest.Values {
	return manifest.Values{Address: l.conf.Address, AdapterPort: l.conf.Ports.Adapter}
}

// extraValues are what the objects of extras are filled with, under a configuration
// that may be ahead of the lab's.
func extraValues(conf component.Config) (manifest.Values, error) {
	ca, err := os.ReadFile(conf.PKI().Cert(pki.CA))
	if err != nil {
		return manifest.Values{}, fmt.Errorf("read the lab's authority: %w", err)
	}
	return manifest.Values{
		Address: conf.Address, CA: ca, JobSetWebhookPort: conf.Ports.JobSetWebhook, TrainerWebhookPort: conf.Ports.TrainerWebhook,
	}, nil
}

// awaitCondition waits until a condition of the object is True.
func awaitCondition(ctx context.Context, client dynamic.Interface, obj *unstructured.Unstructured, kind string) error {
	r, err := resourceOf(client, obj)
	if err != nil {
		return err
	}
	return poll(ctx, obj.GetKind()+" "+obj.GetName()+" to be "+kind, func(ctx context.Context) (bool, error) {
		got, err := r.Get(ctx, obj.GetName(), metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		status, message := conditionOf(got, kind)
		if status == "True" || status == "" {
			return status == "True", nil
		}
		return false, fmt.Errorf("%s is %s: %s", kind, status, message)
	})
}

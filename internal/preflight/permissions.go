package preflight

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"

	"github.com/firstlight/firstlight/internal/gate"
	"github.com/firstlight/firstlight/internal/probe/kube"
)

// access is one request that a run makes, and whether the account may make it.
type access struct {
	namespace, verb, group, resource, sub, name string
	// why is the reason of its rule.
	why     string
	allowed bool
	// unserved: the cluster has no such resource.
	unserved bool
	err      error
}

// String is "create jobs.batch", or "get services/proxy prometheus:9090".
func (a access) String() string {
	text := a.verb + " " + a.resource
	if a.sub != "" {
		text += "/" + a.sub
	}
	if a.group != "" {
		text += "." + a.group
	}
	if a.name != "" {
		text += " " + a.name
	}
	return text
}

// requests are the single requests of rules.
func requests(rules []gate.Permission) []access {
	var out []access
	for _, p := range rules {
		names := p.Rule.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, group := range p.Rule.APIGroups {
			for _, resource := range p.Rule.Resources {
				resource, sub, _ := strings.Cut(resource, "/")
				for _, verb := range p.Rule.Verbs {
					for _, name := range names {
						a := access{namespace: p.Namespace, verb: verb, group: group, resource: resource, sub: sub, name: name, why: p.Why}
						if !slices.Contains(out, a) {
							out = append(out, a)
						}
					}
				}
			}
		}
	}
	return out
}

// reviewsAtOnce is the number of concurrent access reviews.
const reviewsAtOnce = 16

// observeAccess asks the API server about each request.
func observeAccess(ctx context.Context, c *kube.Cluster, rules []gate.Permission) []access {
	out := requests(rules)
	served := servedResources(c)
	var work errgroup.Group
	work.SetLimit(reviewsAtOnce)
	for i := range out {
		a := &out[i]
		if a.unserved = served.lacks(a.group, a.resource); a.unserved {
			continue
		}
		work.Go(func() error {
			a.allowed, a.err = review(ctx, c, *a)
			return nil
		})
	}
	_ = work.Wait() // no function returns an error
	return out
}

func review(ctx context.Context, c *kube.Cluster, a access) (bool, error) {
	answer, err := c.Client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: a.namespace, Verb: a.verb, Group: a.group, Version: "*", Resource: a.resource, Subresource: a.sub, Name: a.name,
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		return false, fmt.Errorf("review the permission to %s: %w", a, err)
	}
	return answer.Status.Allowed, nil
}

// mayCreate reports whether the account may create objects of a resource in a namespace.
func mayCreate(ctx context.Context, c *kube.Cluster, namespace, group, resource string) (bool, error) {
	return review(ctx, c, access{namespace: namespace, verb: "create", group: group, resource: resource})
}

// resources are the served resources by group. A group whose discovery failed is nil.
type resources struct {
	groups map[string][]string
	// err is set if nothing is known.
	err error
}

func servedResources(c *kube.Cluster) resources {
	r := resources{groups: map[string][]string{}}
	_, lists, err := c.Client.Discovery().ServerGroupsAndResources()
	failed, partial := errors.AsType[*discovery.ErrGroupDiscoveryFailed](err)
	if err != nil && !partial {
		r.err = err
		return r
	}
	for _, list := range lists {
		group, _, found := strings.Cut(list.GroupVersion, "/")
		if !found {
			group = ""
		}
		for i := range list.APIResources {
			r.groups[group] = append(r.groups[group], list.APIResources[i].Name)
		}
	}
	if partial {
		for gv := range failed.Groups {
			r.groups[gv.Group] = nil
		}
	}
	return r
}

// lacks reports whether the cluster is known not to serve a resource: a run makes no requests for it.
func (r resources) lacks(group, resource string) bool {
	names, known := r.groups[group]
	if r.err != nil || known && names == nil {
		return false
	}
	return !slices.ContainsFunc(names, func(name string) bool { return name == resource || strings.HasPrefix(name, resource+"/") })
}

const whatPermissions = "permissions"

// judgeAccess has one line for each reason with a missing permission, by namespace. Requests in the
// namespace missing, which does not exist, are left to the line of the namespace.
func judgeAccess(all []access, missing, remedy string) []Line {
	type key struct{ namespace, why string }
	denied, unknown := map[key][]string{}, map[key]error{}
	var order []key
	allowed, unserved := 0, 0
	for _, a := range all {
		k := key{a.namespace, a.why}
		switch {
		case a.unserved:
			unserved++
			continue
		case a.err == nil && a.allowed:
			allowed++
			continue
		case missing != "" && a.namespace == missing:
			continue
		case a.err != nil:
			unknown[k] = a.err
		default:
			denied[k] = append(denied[k], a.String())
		}
		if !slices.Contains(order, k) {
			order = append(order, k)
		}
	}
	var out []Line
	for _, k := range order {
		target := "cluster-wide"
		if k.namespace != "" {
			target = "namespace " + k.namespace
		}
		if len(denied[k]) > 0 {
			out = append(out, stop(whatPermissions, target, remedy, "may not: %s (%s)", strings.Join(denied[k], ", "), k.why))
		} else {
			out = append(out, unobserved(whatPermissions, target, remedy, "%v", unknown[k]))
		}
	}
	if len(out) > 0 {
		return out
	}
	more := ""
	if unserved > 0 {
		more = fmt.Sprintf("; %d more are for resources that the cluster does not serve", unserved)
	}
	if allowed == 0 {
		return []Line{unobserved(whatPermissions, "cluster", remedy, "no permission was reviewed%s", more)}
	}
	return []Line{ok(whatPermissions, "cluster", "all %d requests of the gates are allowed%s", allowed, more)}
}

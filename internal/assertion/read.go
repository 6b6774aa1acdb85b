package assertion

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

// Seen is what an operation was judged by: for each level what its expressions
// read, and when. Levels are the test's bindings, the step's, the operation's, and
// the look at the objects.
type Seen [levels]Level

const (
	levelTest = iota
	levelStep
	levelOperation
	levelLook
	levels
)

// Level is what was read at one time.
type Level struct {
	At    time.Time `json:"at"`
	Reads []Read    `json:"reads,omitempty"`
}

// What a Read asked for.
const (
	verbGet     = "get"
	verbList    = "list"
	verbKind    = "kind"
	verbVersion = "version"
)

// Read is one question to the API server, with the answer.
type Read struct {
	// Verb is get, list, kind (is it served, does it have namespaces) or version.
	Verb       string `json:"verb"`
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind,omitempty"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name,omitempty"`
	// Selector of labels.
	Selector string `json:"selector,omitempty"`

	// Objects that came; values of Secrets are left out.
	Objects    []unstructured.Unstructured `json:"objects,omitempty"`
	Namespaced bool                        `json:"namespaced,omitempty"`
	Version    *version.Info               `json:"version,omitempty"`
	// Failure is why nothing came.
	Failure *Failure `json:"failure,omitempty"`
}

// question is the Read without its answer, which tells it from others.
func (r Read) question() string {
	return fmt.Sprintf("%s %s %s %s/%s %s", r.Verb, r.APIVersion, r.Kind, r.Namespace, r.Name, r.Selector)
}

func (r Read) gvk() schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(r.APIVersion, r.Kind)
}

// Failure is an error of the API server that can be kept.
type Failure struct {
	// Status as the API server sent it.
	Status *metav1.Status `json:"status,omitempty"`
	// NoKind: it does not serve the kind.
	NoKind bool `json:"noKind,omitempty"`
	// Message of any other error.
	Message string `json:"message"`
}

func failureOf(err error) *Failure {
	if err == nil {
		return nil
	}
	f := &Failure{Message: err.Error(), NoKind: meta.IsNoMatchError(err)}
	var status apierrors.APIStatus
	if errors.As(err, &status) {
		s := status.Status()
		f.Status = &s
	}
	return f
}

// err is the error again, so that what asks for its kind gets the same answer.
func (f *Failure) err(r Read) error {
	switch {
	case f == nil:
		return nil
	case f.Status != nil:
		return &apierrors.StatusError{ErrStatus: *f.Status}
	case f.NoKind:
		gvk := r.gvk()
		return &meta.NoKindMatchError{GroupKind: gvk.GroupKind(), SearchedVersions: []string{gvk.Version}}
	default:
		return unreachableError(f.Message)
	}
}

// unreachableError is that nothing could be seen, in contrast to that nothing was there.
type unreachableError string

func (e unreachableError) Error() string { return string(e) }

// unseen says of an error that the API server did not answer, or would not.
func unseen(err error) bool {
	var no unreachableError
	if errors.As(err, &no) {
		return true
	}
	var status apierrors.APIStatus
	return errors.As(err, &status) && !apierrors.IsNotFound(err) && !apierrors.IsMethodNotSupported(err) && !apierrors.IsBadRequest(err)
}

// scrub takes the values of Secrets away.
func scrub(list []unstructured.Unstructured) {
	for i := range list {
		if list[i].GetKind() != "Secret" || list[i].GroupVersionKind().Group != "" {
			continue
		}
		for _, field := range []string{"data", "stringData"} {
			values, _ := list[i].Object[field].(map[string]any)
			for key := range values {
				values[key] = "(redacted)"
			}
		}
		annotations := list[i].GetAnnotations()
		if _, has := annotations[lastApplied]; has {
			annotations[lastApplied] = "(redacted)"
			list[i].SetAnnotations(annotations)
		}
	}
}

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

var _ json.Marshaler = (*unstructured.Unstructured)(nil) // objects keep their whole numbers

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

// Seen holds the reads of an operation by level: the bindings of test, step and operation,
// and the objects.
type Seen [levels]Level

const (
	levelTest = iota
	levelStep
	levelOperation
	levelLook
	levels
)

// Level is the reads at one time.
type Level struct {
	At    time.Time `json:"at"`
	Reads []Read    `json:"reads,omitempty"`
}

// Verbs of a Read.
const (
	verbGet     = "get"
	verbList    = "list"
	verbKind    = "kind"
	verbVersion = "version"
)

// Read is one request to the API server with its response.
type Read struct {
	// Verb is get, list, kind (is it served, does it have namespaces) or version.
	Verb       string `json:"verb"`
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind,omitempty"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name,omitempty"`
	// Selector of labels.
	Selector string `json:"selector,omitempty"`

	// Objects returned; values of Secrets are redacted.
	Objects    []unstructured.Unstructured `json:"objects,omitempty"`
	Namespaced bool                        `json:"namespaced,omitempty"`
	Version    *version.Info               `json:"version,omitempty"`
	// Failure is the error response.
	Failure *Failure `json:"failure,omitempty"`
}

// question identifies the request.
func (r Read) question() string {
	return fmt.Sprintf("%s %s %s %s/%s %s", r.Verb, r.APIVersion, r.Kind, r.Namespace, r.Name, r.Selector)
}

func (r Read) gvk() schema.GroupVersionKind {
	return schema.FromAPIVersionAndKind(r.APIVersion, r.Kind)
}

// Failure is a storable error of the API server.
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

// err converts the failure back to an error of the same type.
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

// unreachableError: the read failed, in contrast to an empty result.
type unreachableError string

func (e unreachableError) Error() string { return string(e) }

// unseen reports whether an error means that the API server did not answer or refused.
func unseen(err error) bool {
	var no unreachableError
	if errors.As(err, &no) {
		return true
	}
	var status apierrors.APIStatus
	return errors.As(err, &status) && !apierrors.IsNotFound(err) && !apierrors.IsMethodNotSupported(err) && !apierrors.IsBadRequest(err)
}

// scrub redacts the values of Secrets.
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

var _ json.Marshaler = (*unstructured.Unstructured)(nil) // objects keep integers

package preflight

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func notFound() error {
	return apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "x")
}

func TestJudgeSpace(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	for name, tt := range map[string]struct {
		f    spaceFacts
		want []string
	}{
		"own":                        {spaceFacts{mayCreate: true}, nil},
		"own, exists already":        {spaceFacts{mayCreate: true, err: apierrors.NewAlreadyExists(schema.GroupResource{}, "x")}, nil},
		"own, forbidden":             {spaceFacts{}, nil}, // a line of the permissions
		"own, refused":               {spaceFacts{mayCreate: true, err: down}, []string{"would-stop namespace firstlight-RUN: a dry run cannot create it: down"}},
		"given":                      {spaceFacts{name: "x", found: &corev1.Namespace{}}, nil},
		"given, missing":             {spaceFacts{name: "x", err: notFound()}, []string{"would-stop namespace x: does not exist"}},
		"given, missing, may create": {spaceFacts{name: "x", err: notFound(), mayCreate: true}, nil},
		"given, unread":              {spaceFacts{name: "x", err: down}, []string{"unobserved namespace x: down"}},
		"given, ends":                {spaceFacts{name: "x", found: &corev1.Namespace{Status: corev1.NamespaceStatus{Phase: corev1.NamespaceTerminating}}}, []string{"would-stop namespace x: is being deleted"}},
		"unknown":                    {spaceFacts{reviewErr: down}, []string{"unobserved namespace firstlight-RUN: down"}},
	} {
		require(t, name, judgeSpace(tt.f), tt.want...)
	}
}

package store

import (
	"errors"
	"fmt"
	"net"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/connrotation"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// NewKube returns a client without a rate limit: a throttled broker lets leases expire.
func NewKube(config *rest.Config) (*Kube, error) {
	k, err := newKube(config)
	if err != nil {
		return nil, fmt.Errorf("connect to the reservation store: %w", err)
	}
	return k, nil
}

func newKube(config *rest.Config) (*Kube, error) {
	c := rest.CopyConfig(config)
	c.ContentType = runtime.ContentTypeJSON
	c.QPS = -1
	if c.WarningHandler == nil && c.WarningHandlerWithContext == nil {
		c.WarningHandler = rest.WarningLogger{} // controller-runtime's logger is not set
	}
	if c.Dial == nil {
		c.Dial = (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext // as client-go
	}
	connections := connrotation.NewDialer(c.Dial)
	c.Dial = connections.DialContext
	offset := &clockOffset{}
	c.Wrap(offset.wrap)
	connection, err := rest.HTTPClientFor(c)
	if err != nil {
		return nil, err
	}
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	typed, err := client.NewWithWatch(c, client.Options{HTTPClient: connection, Scheme: scheme, Mapper: newMapper(scheme)})
	if err != nil {
		return nil, err
	}
	raw, err := apiutil.RESTClientForGVK(GroupVersion.WithKind("Reservation"), false, false, c, serializer.NewCodecFactory(scheme), connection)
	if err != nil {
		return nil, err
	}
	k := &Kube{client: typed, raw: raw, connections: connections, offset: offset}
	k.caller.user = config.Impersonate.UserName // the API server authenticates exactly this name, or refuses the request
	return k, nil
}

func newScheme() (*runtime.Scheme, error) {
	s := runtime.NewScheme()
	s.AddKnownTypes(GroupVersion, &Reservation{}, &ReservationList{}, &ReservationHistory{}, &ReservationHistoryList{}, &HandOver{}, &HandOverList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return s, errors.Join(
		metav1.AddMetaToScheme(s),
		admissionregistrationv1.AddToScheme(s), apiextensionsv1.AddToScheme(s), // Install
		authenticationv1.AddToScheme(s), authorizationv1.AddToScheme(s), // Caller, Operates
	)
}

// newMapper maps kinds to resources without requests for discovery: all that the store uses are
// cluster-scoped.
func newMapper(s *runtime.Scheme) meta.RESTMapper {
	m := meta.NewDefaultRESTMapper(nil)
	for kind := range s.AllKnownTypes() {
		m.Add(kind, meta.RESTScopeRoot)
	}
	return m
}

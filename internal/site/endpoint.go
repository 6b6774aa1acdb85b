package site

import (
	"maps"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// Endpoint is an HTTP API: by URL, or by Service through the API server's proxy.
type Endpoint struct {
	URL string `yaml:"url,omitempty" json:"url,omitempty"`
	// Service is "namespace/name:port" ("monitoring/prometheus-k8s:9090"; prefix
	// "https:" for TLS behind the Service).
	Service  string `yaml:"service,omitempty" json:"service,omitempty"`
	CAFile   string `yaml:"caFile,omitempty" json:"caFile,omitempty"`
	CertFile string `yaml:"certFile,omitempty" json:"certFile,omitempty"`
	KeyFile  string `yaml:"keyFile,omitempty" json:"keyFile,omitempty"`
	// At most one of BearerTokenFile, BasicAuth and SigV4 is set.
	BearerTokenFile string     `yaml:"bearerTokenFile,omitempty" json:"bearerTokenFile,omitempty"`
	BasicAuth       *BasicAuth `yaml:"basicAuth,omitempty" json:"basicAuth,omitempty"`
	SigV4           *SigV4     `yaml:"sigV4,omitempty" json:"sigV4,omitempty"`
	// Headers are added to every request, by name: the tenant of Mimir or Thanos
	// (X-Scope-OrgID), a key of a gateway.
	Headers map[string]Header `yaml:"headers,omitempty" json:"headers,omitempty"`
	// PlainHTTP sends credentials to an http URL, in clear; without it that is refused.
	PlainHTTP bool `yaml:"plainHTTP,omitempty" json:"plainHTTP,omitempty"`
}

// BasicAuth is a user with a password.
type BasicAuth struct {
	User string `yaml:"user" json:"user"`
	// PasswordFile holds the password; never the site file.
	PasswordFile string `yaml:"passwordFile" json:"passwordFile"`
}

// SigV4 signs requests with AWS Signature Version 4. The keys are those of the environment or of
// the shared credentials file.
type SigV4 struct {
	Region string `yaml:"region" json:"region"`
	// Service is the signing name; empty: "aps", Amazon Managed Service for Prometheus.
	Service string `yaml:"service,omitempty" json:"service,omitempty"`
	// Profile is the section of the shared credentials file; empty: the environment, then
	// AWS_PROFILE, then "default".
	Profile string `yaml:"profile,omitempty" json:"profile,omitempty"`
}

// Header is the value of a header: exactly one field is set.
type Header struct {
	Value string `yaml:"value,omitempty" json:"value,omitempty"`
	// ValueFile holds a secret value.
	ValueFile string `yaml:"valueFile,omitempty" json:"valueFile,omitempty"`
}

// Name is the address for messages, without credentials.
func (e Endpoint) Name() string {
	if e.Service != "" {
		return "service " + e.Service
	}
	return e.URL
}

// Secret reports whether requests carry a credential that must not be sent in clear.
func (e Endpoint) Secret() bool {
	secretHeader := slices.ContainsFunc(slices.Collect(maps.Values(e.Headers)), func(h Header) bool { return h.ValueFile != "" })
	return e.BearerTokenFile != "" || e.BasicAuth != nil || e.SigV4 != nil || secretHeader
}

// Files are the files of the endpoint by their key.
func (e *Endpoint) Files() map[string]string {
	out := map[string]string{}
	e.eachFile(func(key string, path *string) {
		if *path != "" {
			out[key] = *path
		}
	})
	return out
}

// eachFile calls f with the key and the path of every file; f may change the path.
func (e *Endpoint) eachFile(f func(key string, path *string)) {
	f("caFile", &e.CAFile)
	f("certFile", &e.CertFile)
	f("keyFile", &e.KeyFile)
	f("bearerTokenFile", &e.BearerTokenFile)
	if e.BasicAuth != nil {
		f("basicAuth.passwordFile", &e.BasicAuth.PasswordFile)
	}
	for name, h := range e.Headers {
		was := h.ValueFile
		if f("headers."+name+".valueFile", &h.ValueFile); h.ValueFile != was {
			e.Headers[name] = h
		}
	}
}

func (v *validator) endpoint(path string, e Endpoint) {
	switch {
	case e.URL == "" && e.Service == "":
		v.add(path, "needs a url or a service (\"namespace/name:port\")")
	case e.URL != "" && e.Service != "":
		v.add(path, "has both a url and a service: keep one")
	case e.URL != "":
		v.url(path+".url", e.URL)
		v.inClear(path, e.URL, e.Secret(), e.PlainHTTP)
		v.unusedTLS(path, e.URL, map[string]string{"caFile": e.CAFile, "certFile": e.CertFile, "keyFile": e.KeyFile})
	default:
		v.serviceCredentials(path, e)
	}
	if (e.CertFile == "") != (e.KeyFile == "") {
		v.add(path, "certFile and keyFile go together")
	}
	v.authorization(path, e)
	for _, name := range slices.Sorted(maps.Keys(e.Headers)) {
		v.header(path+".headers."+name, name, e.Headers[name])
	}
}

// serviceCredentials refuses credentials of an API behind a Service: they would go to the API server.
func (v *validator) serviceCredentials(path string, e Endpoint) {
	const forURL = "is for a url: a service is reached with the credentials of the cluster"
	files := e.Files()
	for _, key := range slices.Sorted(maps.Keys(files)) {
		v.add(path+"."+key, forURL)
	}
	if e.BasicAuth != nil && e.BasicAuth.PasswordFile == "" {
		v.add(path+".basicAuth", forURL)
	}
	if e.SigV4 != nil {
		v.add(path+".sigV4", forURL)
	}
}

func (v *validator) authorization(path string, e Endpoint) {
	var set []string
	if e.BearerTokenFile != "" {
		set = append(set, "bearerTokenFile")
	}
	if e.BasicAuth != nil {
		set = append(set, "basicAuth")
		v.require(path+".basicAuth.user", e.BasicAuth.User, "firstlight")
		v.require(path+".basicAuth.passwordFile", e.BasicAuth.PasswordFile, "secrets/prometheus-password")
		if strings.Contains(e.BasicAuth.User, ":") {
			v.add(path+".basicAuth.user", "must not contain a colon")
		}
	}
	if e.SigV4 != nil {
		set = append(set, "sigV4")
		v.require(path+".sigV4.region", e.SigV4.Region, "eu-west-1")
	}
	if len(set) > 1 {
		v.add(path, "has %s: keep one", strings.Join(set, " and "))
	}
}

// reserved are headers that the client sets itself, in lower case; x-amz-* are those of a signature.
var reserved = []string{
	"authorization", "proxy-authorization", "host", "connection", "content-type", "content-length", "content-encoding",
	"transfer-encoding", "te", "trailer", "upgrade", "expect", "cookie",
}

func (v *validator) header(path, name string, h Header) {
	lower := strings.ToLower(name)
	switch {
	case !httpguts.ValidHeaderFieldName(name):
		v.add(path, "invalid header name")
	case slices.Contains(reserved, lower) || strings.HasPrefix(lower, "x-amz-"):
		v.add(path, "must not be set: use bearerTokenFile, basicAuth or sigV4 for credentials; the client sets the other headers itself")
	}
	if (h.Value == "") == (h.ValueFile == "") {
		v.add(path, "needs exactly one of value and valueFile")
	}
	if !httpguts.ValidHeaderFieldValue(h.Value) {
		v.add(path+".value", "invalid header value: must be one line of text")
	}
}

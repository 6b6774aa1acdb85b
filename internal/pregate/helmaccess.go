package pregate

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"helm.sh/helm/v4/pkg/action"
	chartutil "helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/cli"
	"helm.sh/helm/v4/pkg/cli/values"
	"helm.sh/helm/v4/pkg/getter"
	"helm.sh/helm/v4/pkg/registry"
	"oras.land/oras-go/v2/registry/remote/retry"

	"github.com/firstlight/firstlight/internal/probe/origin"
)

// access is where the chart is and the credentials for it. A mirror has none.
func (r *release) access() (action.ChartPathOptions, error) {
	o := action.ChartPathOptions{Version: r.spec.Version, RepoURL: r.repository(), CaFile: r.spec.CAFile}
	if r.spec.User == "" || r.mirror != "" {
		return o, nil
	}
	password, err := os.ReadFile(r.spec.PasswordFile)
	if err != nil {
		return o, fmt.Errorf("read the password of chart %s: %w", r.spec.Chart, err)
	}
	o.Username, o.Password = r.spec.User, strings.TrimSpace(string(password))
	return o, nil
}

// set keeps the registry client that to has.
func set(to *action.ChartPathOptions, access action.ChartPathOptions) {
	to.Version, to.RepoURL, to.CaFile = access.Version, access.RepoURL, access.CaFile
	to.Username, to.Password = access.Username, access.Password
}

// registry is the client for charts in an OCI registry.
func (r *release) registry(out io.Writer, access action.ChartPathOptions) (*registry.Client, error) {
	transport, err := trusting(access.CaFile)
	if err != nil {
		return nil, fmt.Errorf("prepare helm's registry client: %w", err)
	}
	options := []registry.ClientOption{
		registry.ClientOptWriter(out),
		registry.ClientOptHTTPClient(origin.Registry(&http.Client{Transport: retry.NewTransport(transport)}, false)),
	}
	if access.Username != "" {
		options = append(options, registry.ClientOptBasicAuth(access.Username, access.Password))
	}
	client, err := registry.NewClient(options...)
	if err != nil {
		return nil, fmt.Errorf("prepare helm's registry client: %w", err)
	}
	return client, nil
}

var errNoCertificate = errors.New("no PEM certificate in the file")

// trusting is a transport that trusts the certificates of a file too; nil for no file.
func trusting(caFile string) (http.RoundTripper, error) {
	if caFile == "" {
		return nil, nil // the default transport
	}
	pem, err := os.ReadFile(caFile)
	if err != nil {
		return nil, err
	}
	pool, err := poolOf(pem)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", caFile, err)
	}
	return &http.Transport{Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}, nil
}

// poolOf is the system's certificates with those of a PEM file.
func poolOf(pem []byte) (*x509.CertPool, error) {
	pool, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("read the system's certificates: %w", err)
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, errNoCertificate
	}
	return pool, nil
}

// values are those of the files and, over them, the site's own.
func (r *release) values(settings *cli.EnvSettings) (map[string]any, error) {
	opts := values.Options{ValueFiles: r.spec.Files()}
	vals, err := opts.MergeValues(getter.All(settings))
	if err != nil {
		return nil, fmt.Errorf("read values of release %s: %w", r.spec.Release, err)
	}
	return chartutil.MergeTables(copied(r.spec.Values), vals), nil
}

// copied copies the tables of values, into which Helm merges.
func copied(from map[string]any) map[string]any {
	to := map[string]any{}
	for key, value := range from {
		if table, ok := value.(map[string]any); ok {
			value = copied(table)
		}
		to[key] = value
	}
	return to
}

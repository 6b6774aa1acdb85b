package pregate

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/downloader"
	"helm.sh/helm/v4/pkg/getter"
	"helm.sh/helm/v4/pkg/repo/v1"

	"github.com/firstlight/firstlight/internal/probe/origin"
)

// locate is LocateChart of Helm, with another client for repositories: Helm's own (pkg/getter/httpgetter.go of
// github.com/helm/helm) leaves redirects to net/http, which keeps the password for other ports and subdomains of the host.
func (r *release) locate(ctx context.Context, opts *action.ChartPathOptions, s *session) (string, error) {
	if opts.RepoURL == "" {
		return opts.LocateChart(r.chart(), s.settings)
	}
	get, err := repositoryGetter(ctx, opts)
	if err != nil {
		return "", err
	}
	getters := append(getter.Providers{{
		Schemes: []string{"http", "https"},
		New:     func(...getter.Option) (getter.Getter, error) { return get, nil },
	}}, getter.All(s.settings)...)
	address, err := repo.FindChartInRepoURL(opts.RepoURL, r.chart(), getters, repo.WithChartVersion(opts.Version))
	if err != nil {
		return "", err
	}
	dl := downloader.ChartDownloader{
		Out: s.out, Getters: getters, RegistryClient: s.RegistryClient,
		RepositoryConfig: s.settings.RepositoryConfig, RepositoryCache: s.settings.RepositoryCache, ContentCache: s.settings.ContentCache,
	}
	path, _, err := dl.DownloadToCache(address, opts.Version)
	return path, err
}

// getFunc gets a file of a repository.
type getFunc func(address string) (*bytes.Buffer, error)

// Get implements getter.Getter. The options are Helm's, for its own client.
func (get getFunc) Get(address string, _ ...getter.Option) (*bytes.Buffer, error) {
	return get(address)
}

// repositoryGetter gets the index and the charts of a repository. The credentials are for its origin only.
func repositoryGetter(ctx context.Context, opts *action.ChartPathOptions) (getFunc, error) {
	base, err := url.Parse(opts.RepoURL)
	if err != nil {
		return nil, fmt.Errorf("invalid repository: %w", err)
	}
	transport, err := trusting(opts.CaFile)
	if err != nil {
		return nil, fmt.Errorf("prepare the client of repository %s: %w", opts.RepoURL, err)
	}
	client := origin.Registry(&http.Client{Transport: transport, Timeout: getter.DefaultHTTPTimeout * time.Second}, false)
	return func(address string) (*bytes.Buffer, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return nil, err
		}
		if opts.Username != "" && req.URL.Scheme == base.Scheme && req.URL.Host == base.Host {
			req.SetBasicAuth(opts.Username, opts.Password)
		}
		resp, err := client.Do(req)
		if err != nil {
			return nil, err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("get %s: %s", address, resp.Status)
		}
		var body bytes.Buffer
		_, err = body.ReadFrom(resp.Body)
		return &body, err
	}, nil
}

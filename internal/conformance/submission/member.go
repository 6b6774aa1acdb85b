package submission

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/firstlight/firstlight/internal/diag"
	"github.com/firstlight/firstlight/internal/yamlstrict"
)

// landscape is the CNCF's list of its members.
const landscape = "https://raw.githubusercontent.com/cncf/landscape/master/landscape.yml"

// maxLandscape bounds the download; the list has about 2 MiB.
const maxLandscape = 32 << 20

// member looks up the vendor's name in the list of members. The name is unchecked if the
// list cannot be read.
func (v *validation) member(ctx context.Context, o Options) error {
	if v.vendor == "" {
		return nil
	}
	from := cmp.Or(o.Landscape, landscape)
	members, err := membersAt(ctx, o.Client, from)
	if ctx.Err() != nil {
		return fmt.Errorf("read the members of the CNCF: %w", ctx.Err())
	}
	switch {
	case err != nil:
		v.unchecked("whether "+v.vendor+" is a member of the CNCF", fmt.Sprintf("%s: %v", redacted(from), err))
	case !slices.Contains(members, v.vendor):
		found := ruleMember.At(v.vendorAt, "%q is not a member in the CNCF landscape", v.vendor)
		if near := diag.Nearest(v.vendor, members); near != "" {
			found = found.With("did you mean %q? use the landscape's spelling", near)
		}
		v.add(found)
	}
	return nil
}

func membersAt(ctx context.Context, client Doer, address string) ([]string, error) {
	var members []string
	status, err := request(ctx, client, http.MethodGet, address, func(body io.Reader) error {
		data, err := io.ReadAll(io.LimitReader(body, maxLandscape))
		if err != nil {
			return fmt.Errorf("read the response: %w", err)
		}
		members, err = membersIn(data)
		return err
	})
	switch {
	case status != 0 && status != http.StatusOK:
		return nil, fmt.Errorf("status %d %s", status, http.StatusText(status))
	case err != nil:
		return nil, err
	case len(members) == 0:
		return nil, fmt.Errorf("the landscape has no members")
	}
	return members, nil
}

// membersIn reads the names, without the suffix for the kind of membership.
func membersIn(data []byte) ([]string, error) {
	var list struct {
		Landscape []struct {
			Name          string `yaml:"name"`
			Subcategories []struct {
				Items []struct {
					Name string `yaml:"name"`
				} `yaml:"items"`
			} `yaml:"subcategories"`
		} `yaml:"landscape"`
	}
	if err := yamlstrict.Unique(data); err != nil {
		return nil, fmt.Errorf("read the landscape: %w", err)
	}
	if err := yaml.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("read the landscape: %w", err)
	}
	var members []string
	for _, c := range list.Landscape {
		if c.Name != "CNCF Members" {
			continue
		}
		for _, s := range c.Subcategories {
			for _, i := range s.Items {
				name := strings.TrimSuffix(strings.TrimSuffix(i.Name, " (member)"), " (supporter)")
				if name = strings.TrimSpace(name); name != "" {
					members = append(members, name)
				}
			}
		}
	}
	return members, nil
}

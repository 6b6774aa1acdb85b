package hook

import (
	"fmt"
	"strconv"
)

// NameOf returns the name of a deployment: its purpose (day, night), the slug of its reservation,
// and the token of its lease. Tokens are unique, and so are names: a cloud may still know a
// deleted one.
func NameOf(purpose, slug string, token int64) string {
	return fmt.Sprintf("fl-%s-%s-%s", purpose, slug, strconv.FormatInt(token, 36))
}

package doctor

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"os"
	"time"

	"canopy/internal/egress"
)

// egress tells what deliveries of webhooks meet on their way out.
func (v *Visit) egress(ctx context.Context) {
	if len(v.cfg.WebhookAllow) > 0 {
		v.found("webhook egress", Warning, "take CANOPY_WEBHOOK_ALLOW out, unless it is a closed network", "addresses of %v are let through that are not public", v.cfg.WebhookAllow)
	}
	for _, name := range []string{"HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"} {
		if v.Getenv(name) != "" {
			v.found("webhook egress", Warning, "let the workers connect to the internet without it", "%s is set: deliveries and http steps don't use it, as it would dial unjudged", name)
			break
		}
	}
	o := egress.Options{Allow: v.cfg.WebhookAllow, UserAgent: "canopy/" + v.Version}
	if file := v.cfg.WebhookCA; file != "" {
		text, err := os.ReadFile(file)
		if err == nil {
			o.RootCAs, err = egress.Roots(text)
		}
		if err != nil {
			v.found("webhook egress", Fault, "", "CANOPY_WEBHOOK_CA: %v", err)
			return
		}
		v.roots(text)
	}
	v.reach(ctx, egress.New(o))
	v.failing(ctx)
}

// roots tells of those that have run out.
func (v *Visit) roots(text []byte) {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		c, err := x509.ParseCertificate(block.Bytes)
		if err == nil && time.Now().After(c.NotAfter) {
			v.found("webhook egress", Warning, "replace it in CANOPY_WEBHOOK_CA", "the root %s ran out at %s", c.Subject, c.NotAfter.UTC().Format(time.DateOnly))
		}
	}
}

// reach asks the address that was given, as a delivery is sent.
func (v *Visit) reach(ctx context.Context, client *egress.Client) {
	if v.Egress == "" {
		v.unknown("webhook egress", "no address was asked: --egress https://… asks one as receivers are asked")
		return
	}
	answer, err := client.Do(ctx, egress.Request{Method: http.MethodGet, URL: v.Egress})
	if err != nil {
		v.found("webhook egress", Fault, "let the workers resolve names and connect to port 443 of public addresses", "%s was not reached: %v", v.Egress, err)
		return
	}
	v.ok("webhook egress", "%s was reached in %s, and answered %d", v.Egress, answer.Duration.Round(time.Millisecond), answer.Status)
}

// failing tells of receivers to which nothing gets through.
func (v *Visit) failing(ctx context.Context) {
	if v.store == nil {
		return
	}
	list, err := v.store.FailingNow(ctx)
	if err != nil || len(list) == 0 {
		return
	}
	since := list[0].FailingSince.UTC().Format("2006-01-02 15:04Z")
	v.found("webhook receivers", Warning, "see Operations in the console; where it is all of them, see to the way out", "nothing gets through to %s, to the first since %s",
		count(len(list), "destination"), since)
}

func count(n int, what string) string {
	if n == 1 {
		return "one " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

package schema

// Parts of the formats, as regular expressions.
const (
	dateForm = `(?:(?:000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))|` +
		`(?:[0-9][0-9](?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)-02-29)`
	timeForm = `(?:(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,9})?(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9]))`
	hostForm = `(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*)`
	ipv4Form = `(?:(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])(?:\.(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])){3})`
	ipv6Form = `(?:(?:H:){7}H|(?:H:){1,7}:|(?:H:){1,6}:H|(?:H:){1,5}(?::H){2}|(?:H:){1,4}(?::H){3}|(?:H:){1,3}(?::H){4}|(?:H:){1,2}(?::H){5}|H:(?::H){6}|` +
		`:(?:(?::H){1,7}|:)|(?:H:){6}V|::(?:H:){0,5}V|(?:H:){1}:(?:H:){0,4}V|(?:H:){2}:(?:H:){0,3}V|(?:H:){3}:(?:H:){0,2}V|(?:H:){4}:(?:H:)?V|(?:H:){5}:V)`
	atomForm = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
	pathChar = `(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})`
	tailForm = `(?:\?(?:C|[/?])*)?(?:#(?:C|[/?])*)?`
	hostPart = `(?://(?:(?:[A-Za-z0-9._~!$&'()*+,;=:-]|%[0-9A-Fa-f]{2})*@)?(?:(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*|\[IPV6\])(?::[0-9]{0,5})?(?:/C*)*)`
	hours    = `[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?`
	clock    = `(?:T(?:` + hours + `|[0-9]+M(?:[0-9]+S)?|[0-9]+S))`
	dayForm  = `(?:[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?|[0-9]+M(?:[0-9]+D)?|[0-9]+D)`
)

// formats returns the formats of the specification as regular expressions. They have only texts that the format allows, and all that are
// in use.
func formats() map[string]string {
	ipv6 := replace(ipv6Form, "H", "[0-9A-Fa-f]{1,4}", "V", ipv4Form)
	tail, host := replace(tailForm, "C", pathChar), replace(hostPart, "C", pathChar, "IPV6", ipv6)
	absolute := `[A-Za-z][A-Za-z0-9+.-]*:(?:` + host + `|/?(?:` + pathChar + `+(?:/` + pathChar + `*)*)?)` + tail
	relative := `(?:` + host + `|/(?:` + pathChar + `+(?:/` + pathChar + `*)*)?|(?:` + replace(pathChar, ":", "") + `+(?:/` + pathChar + `*)*)?)` + tail
	email := "(?=.{1,64}@)" + atomForm + `(?:\.` + atomForm + ")*@" + `(?=.{1,253}$)` + hostForm
	pointer := `(?:/(?:[^~/]|~[01])*)*`
	list := map[string]string{
		"date": dateForm, "time": timeForm, "date-time": dateForm + "[Tt]" + timeForm,
		"duration": `P(?:` + dayForm + clock + `?|` + clock + `|[0-9]+W)`,
		"email":    email, "idn-email": email, "hostname": `(?=.{1,253}$)` + hostForm, "idn-hostname": `(?=.{1,253}$)` + hostForm,
		"ipv4": ipv4Form, "ip-address": ipv4Form, "ipv6": ipv6, "uuid": `[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`,
		"uri": absolute, "iri": absolute, "uri-reference": `(?:` + absolute + `|` + relative + `)`, "iri-reference": `(?:` + absolute + `|` + relative + `)`,
		"uri-template": `(?:` + pathChar + `|[/?#\[\]]|\{[A-Za-z0-9_]+\})*`,
		"json-pointer": pointer, "relative-json-pointer": `(?:0|[1-9][0-9]*)(?:#|` + pointer + `)`,
	}
	for name, form := range list {
		list[name] = "^" + form + "$"
	}
	return list
}

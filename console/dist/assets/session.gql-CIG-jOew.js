import{r as e}from"./rolldown-runtime-XKyaHtl9.js";import{i as t}from"./react-BNCMh3YF.js";import{t as n}from"./documents-B5eT6-LS.js";var r=e(t(),1);function i(e,t,n){let i=(0,r.useEffectEvent)(t);(0,r.useEffect)(()=>(window.addEventListener(e,i,n),()=>window.removeEventListener(e,i,n)),[e])}var a=n(`query Me {
  me {
    email
    user {
      id
      databaseId
      name
      firstName
      lastName
      otpMethod
      version
    }
    customer {
      id
      databaseId
      name
      level
    }
    grants {
      application
      accountId
      roleName
      isOwner
      features
    }
  }
}`),o=n(`query Sessions {
  me {
    sessions {
      id
      createdAt
      lastUsedAt
      userAgent
      address
      current
    }
  }
}`),s=n(`mutation RevokeSession($input: RevokeSessionInput!) {
  revokeSession(input: $input) {
    session {
      id
    }
  }
}`),c=n(`mutation RevokeOtherSessions($input: RevokeOtherSessionsInput!) {
  revokeOtherSessions(input: $input) {
    sessions {
      id
    }
  }
}`),l=n(`mutation ChangePassword($input: ChangePasswordInput!) {
  changePassword(input: $input) {
    user {
      id
    }
  }
}`),u=n(`mutation EnableTotp($input: EnableTotpInput!) {
  enableTotp(input: $input) {
    secret
    uri
  }
}`),d=n(`mutation ConfirmTotp($input: ConfirmTotpInput!) {
  confirmTotp(input: $input) {
    user {
      id
      otpMethod
    }
    recoveryCodes
  }
}`),f=n(`mutation DisableTotp($input: DisableTotpInput!) {
  disableTotp(input: $input) {
    user {
      id
      otpMethod
    }
  }
}`),p=n(`query Places {
  me {
    user {
      id
      customers(first: 200) {
        nodes {
          id
          databaseId
          name
          level
        }
      }
    }
    invitations {
      id
      customer {
        id
        databaseId
        name
      }
      expiresAt
    }
  }
}`),m=n(`mutation AcceptInvitation($input: AcceptInvitationInput!) {
  acceptInvitation(input: $input) {
    invitation {
      id
      status
    }
  }
}`),h=n(`mutation DeclineInvitation($input: DeclineInvitationInput!) {
  declineInvitation(input: $input) {
    invitation {
      id
      status
    }
  }
}`);export{f as a,p as c,o as d,i as f,h as i,c as l,l as n,u as o,d as r,a as s,m as t,s as u};
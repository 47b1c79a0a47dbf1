import{t as e}from"./documents-Cz5NXkCI.js";var t=e(`query Me {
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
}`),n=e(`query Sessions {
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
}`),r=e(`mutation RevokeSession($input: RevokeSessionInput!) {
  revokeSession(input: $input) {
    session {
      id
    }
  }
}`),i=e(`mutation RevokeOtherSessions($input: RevokeOtherSessionsInput!) {
  revokeOtherSessions(input: $input) {
    sessions {
      id
    }
  }
}`),a=e(`mutation ChangePassword($input: ChangePasswordInput!) {
  changePassword(input: $input) {
    user {
      id
    }
  }
}`),o=e(`mutation RequestEmailChange($input: RequestEmailChangeInput!) {
  requestEmailChange(input: $input) {
    user {
      id
    }
  }
}`),s=e(`mutation EnableTotp($input: EnableTotpInput!) {
  enableTotp(input: $input) {
    secret
    uri
  }
}`),c=e(`mutation ConfirmTotp($input: ConfirmTotpInput!) {
  confirmTotp(input: $input) {
    user {
      id
      otpMethod
    }
    recoveryCodes
  }
}`),l=e(`mutation DisableTotp($input: DisableTotpInput!) {
  disableTotp(input: $input) {
    user {
      id
      otpMethod
    }
  }
}`),u=e(`query Passkeys {
  me {
    passkeys {
      id
      name
      backedUp
      createdAt
      lastUsedAt
      version
    }
  }
}`),d=e(`mutation BeginPasskey($input: BeginPasskeyInput!) {
  beginPasskey(input: $input) {
    state
    options
  }
}`),f=e(`mutation CreatePasskey($input: CreatePasskeyInput!) {
  createPasskey(input: $input) {
    passkey {
      id
    }
    recoveryCodes
  }
}`),p=e(`mutation UpdatePasskey($input: UpdatePasskeyInput!) {
  updatePasskey(input: $input) {
    passkey {
      id
      name
      version
    }
  }
}`),m=e(`mutation DeletePasskey($input: DeletePasskeyInput!) {
  deletePasskey(input: $input) {
    deletedId
  }
}`),h=e(`query Places {
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
}`),g=e(`mutation AcceptInvitation($input: AcceptInvitationInput!) {
  acceptInvitation(input: $input) {
    invitation {
      id
      status
    }
  }
}`),_=e(`mutation DeclineInvitation($input: DeclineInvitationInput!) {
  declineInvitation(input: $input) {
    invitation {
      id
      status
    }
  }
}`);export{p as _,f as a,l as c,u as d,h as f,n as g,r as h,c as i,s as l,i as m,d as n,_ as o,o as p,a as r,m as s,g as t,t as u};
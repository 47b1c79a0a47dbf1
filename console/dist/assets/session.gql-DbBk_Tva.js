import{t as e}from"./documents-BE1S6YyB.js";var t=e(`query Me {
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
}`),n=e(`mutation UpdateOwnName($input: UpdateUserInput!) {
  updateUser(input: $input) {
    user {
      id
      name
      firstName
      lastName
      version
    }
  }
}`),r=e(`query Sessions {
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
}`),i=e(`mutation RevokeSession($input: RevokeSessionInput!) {
  revokeSession(input: $input) {
    session {
      id
    }
  }
}`),a=e(`mutation RevokeOtherSessions($input: RevokeOtherSessionsInput!) {
  revokeOtherSessions(input: $input) {
    sessions {
      id
    }
  }
}`),o=e(`mutation ChangePassword($input: ChangePasswordInput!) {
  changePassword(input: $input) {
    user {
      id
    }
  }
}`),s=e(`mutation RequestEmailChange($input: RequestEmailChangeInput!) {
  requestEmailChange(input: $input) {
    user {
      id
    }
  }
}`),c=e(`mutation EnableTotp($input: EnableTotpInput!) {
  enableTotp(input: $input) {
    secret
    uri
  }
}`),l=e(`mutation ConfirmTotp($input: ConfirmTotpInput!) {
  confirmTotp(input: $input) {
    user {
      id
      otpMethod
    }
    recoveryCodes
  }
}`),u=e(`mutation DisableTotp($input: DisableTotpInput!) {
  disableTotp(input: $input) {
    user {
      id
      otpMethod
    }
  }
}`),d=e(`mutation RegenerateRecoveryCodes($input: RegenerateRecoveryCodesInput!) {
  regenerateRecoveryCodes(input: $input) {
    recoveryCodes
  }
}`),f=e(`query Passkeys {
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
}`),p=e(`mutation BeginPasskey($input: BeginPasskeyInput!) {
  beginPasskey(input: $input) {
    state
    options
  }
}`),m=e(`mutation CreatePasskey($input: CreatePasskeyInput!) {
  createPasskey(input: $input) {
    passkey {
      id
    }
    recoveryCodes
  }
}`),h=e(`mutation UpdatePasskey($input: UpdatePasskeyInput!) {
  updatePasskey(input: $input) {
    passkey {
      id
      name
      version
    }
  }
}`),g=e(`mutation DeletePasskey($input: DeletePasskeyInput!) {
  deletePasskey(input: $input) {
    deletedId
  }
}`),_=e(`query Places {
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
}`),v=e(`mutation AcceptInvitation($input: AcceptInvitationInput!) {
  acceptInvitation(input: $input) {
    invitation {
      id
      status
    }
  }
}`),y=e(`mutation DeclineInvitation($input: DeclineInvitationInput!) {
  declineInvitation(input: $input) {
    invitation {
      id
      status
    }
  }
}`),b=e(`mutation LeaveCompany($input: LeaveCustomerInput!) {
  leaveCustomer(input: $input) {
    deletedId
  }
}`),x=e(`mutation EraseOneself($input: EraseUserInput!) {
  eraseUser(input: $input) {
    deletedId
  }
}`);export{a as _,m as a,n as b,u as c,b as d,t as f,s as g,d as h,l as i,c as l,_ as m,p as n,y as o,f as p,o as r,g as s,v as t,x as u,i as v,h as x,r as y};